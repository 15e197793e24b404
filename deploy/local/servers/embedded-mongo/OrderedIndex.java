import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.bson.Document;
import java.util.List;

/**
 * An index that may have many documents for a key, which the library itself does not have. {@link IndexedCollection} reads its keys;
 * the library only keeps it up to date.
 */
final class OrderedIndex extends Index<Object> {
    final OrderedKeys keys;

    OrderedIndex(String name, List<IndexKey> keys) {
        // Sparse, because it answers no positions when documents are removed.
        super(name, keys, true);
        this.keys = new OrderedKeys(keys);
    }

    @Override
    public boolean canHandle(Document query) {
        return false;
    }

    @Override
    public Iterable<Object> getPositions(Document query) {
        return List.of();
    }

    @Override
    public void add(Document document, Object position, MongoCollection<Object> collection) {
        keys.add(document);
    }

    @Override
    public Object remove(Document document) {
        keys.remove(document);
        return null;
    }

    @Override
    public void updateInPlace(Document oldDocument, Document newDocument, Object position, MongoCollection<Object> collection) {
        keys.update(oldDocument, newDocument);
    }

    /** So that the library does not fill it, index by index: all of a collection are filled at once. */
    @Override
    public boolean isEmpty() {
        return false;
    }

    @Override
    public Object getPosition(Document document) {
        return null;
    }

    @Override
    public void checkAdd(Document document, MongoCollection<Object> collection) {
        // Any number of documents may have the same values.
    }

    @Override
    public void checkUpdate(Document oldDocument, Document newDocument, MongoCollection<Object> collection) {
        // Any number of documents may have the same values.
    }

    @Override
    public long getCount() {
        return 0;
    }

    @Override
    public long getDataSize() {
        return 0;
    }

    @Override
    public void drop() {
        // Nothing of it is stored.
    }
}
