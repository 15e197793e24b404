import de.bwaldvogel.mongo.backend.AbstractUniqueIndex;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which document has a key, kept in memory. The library keeps it in the store, in the order of its keys' Java serializations, which it
 * makes anew for each comparison.
 */
final class HashedIndex extends AbstractUniqueIndex<Object> {
    private final Map<KeyValue, Object> positions = new ConcurrentHashMap<>();
    private boolean isFilled;

    /** @param isFilled whether the collection has no documents that the library would not add */
    HashedIndex(String name, List<IndexKey> keys, boolean sparse, boolean isFilled) {
        super(name, keys, sparse);
        this.isFilled = isFilled;
    }

    boolean isFilled() {
        return isFilled;
    }

    void setFilled() {
        isFilled = true;
    }

    @Override
    protected Object removeDocument(KeyValue key) {
        return positions.remove(key);
    }

    @Override
    protected boolean putKeyPosition(KeyValue key, Object position) {
        return positions.putIfAbsent(key, Missing.ofNullable(position)) == null;
    }

    @Override
    protected Iterable<Map.Entry<KeyValue, Object>> getIterable() {
        return positions.entrySet();
    }

    @Override
    protected Object getPosition(KeyValue key) {
        return positions.get(key);
    }

    @Override
    public long getCount() {
        return positions.size();
    }

    /** So that the library does not fill it when it opens a database: all of a collection are filled at once. */
    @Override
    public boolean isEmpty() {
        return isFilled && positions.isEmpty();
    }

    @Override
    public long getDataSize() {
        return getCount();
    }
}
