import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.AbstractUniqueIndex;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.bson.Document;
import java.util.AbstractMap;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.h2.mvstore.MVMap;

/** The index of ids: the documents themselves, which are stored by them. The library has a second map, from ids to ids. */
final class IdIndex extends AbstractUniqueIndex<Object> {
    private final MVMap<Object, Document> documents;

    IdIndex(String name, List<IndexKey> keys, boolean sparse, MVMap<Object, Document> documents) {
        super(name, keys, sparse);
        this.documents = documents;
    }

    @Override
    protected Object getPosition(KeyValue key) {
        Object id = Missing.ofNullable(key.get(0));
        if (id instanceof Number || id instanceof Document) {
            return documents.keySet().stream().filter(stored -> keyOf(stored).equals(key)).findFirst().orElse(null);
        }
        return documents.containsKey(id) ? id : null;
    }

    /** An index knows numbers by their values, whatever their types are. */
    private static KeyValue keyOf(Object stored) {
        return new KeyValue(Collections.singletonList(stored)).normalized();
    }

    /** The library has asked for the key before, and has stored the document by now. */
    @Override
    public void add(Document document, Object position, MongoCollection<Object> collection) {
        // It is there.
    }

    @Override
    protected boolean putKeyPosition(KeyValue key, Object position) {
        return true;
    }

    /** The library removes the document itself next. */
    @Override
    protected Object removeDocument(KeyValue key) {
        return getPosition(key);
    }

    @Override
    protected Iterable<Map.Entry<KeyValue, Object>> getIterable() {
        return () -> documents.keySet().stream()
                .map(stored -> (Map.Entry<KeyValue, Object>) new AbstractMap.SimpleImmutableEntry<>(keyOf(stored), stored))
                .iterator();
    }

    @Override
    public long getCount() {
        return documents.sizeAsLong();
    }

    /** There is nothing to fill. */
    @Override
    public boolean isEmpty() {
        return false;
    }

    @Override
    public long getDataSize() {
        return getCount();
    }
}
