import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.bson.Document;
import java.util.List;

/**
 * A unique index that also serves queries that ask for more than its keys, and lists by its order. The library's own serves only
 * queries for exactly its keys and scans the whole collection for {@code {_id, status}}; what an index finds is checked against the
 * whole query anyway.
 */
final class UniqueIndex extends Index<Object> {
    /** Null for an index of one field: nothing is listed by one. */
    final OrderedKeys keys;

    /** Null where it need not be filled. */
    final HashedIndex hashed;

    private final Index<Object> exact;

    UniqueIndex(Index<Object> exact, List<IndexKey> keys, boolean sparse) {
        super(exact.getName(), keys, sparse);
        this.exact = exact;
        this.hashed = exact instanceof HashedIndex one ? one : null;
        this.keys = keys.size() > 1 ? new OrderedKeys(keys) : null;
    }

    private Document ofKeys(Document query) {
        Document restricted = new Document();
        for (String key : keySet()) {
            if (!query.containsKey(key)) {
                return query;
            }
            restricted.put(key, query.get(key));
        }
        return restricted;
    }

    @Override
    public boolean canHandle(Document query) {
        return exact.canHandle(ofKeys(query));
    }

    @Override
    public Iterable<Object> getPositions(Document query) {
        return exact.getPositions(ofKeys(query));
    }

    @Override
    public Object getPosition(Document document) {
        return exact.getPosition(document);
    }

    @Override
    public void checkAdd(Document document, MongoCollection<Object> collection) {
        exact.checkAdd(document, collection);
    }

    @Override
    public void add(Document document, Object position, MongoCollection<Object> collection) {
        exact.add(document, position, collection);
        if (keys != null) {
            keys.add(document);
        }
    }

    @Override
    public Object remove(Document document) {
        Object position = exact.remove(document);
        if (keys != null) {
            keys.remove(document);
        }
        return position;
    }

    @Override
    public void checkUpdate(Document oldDocument, Document newDocument, MongoCollection<Object> collection) {
        exact.checkUpdate(oldDocument, newDocument, collection);
    }

    @Override
    public void updateInPlace(Document oldDocument, Document newDocument, Object position, MongoCollection<Object> collection) {
        exact.updateInPlace(oldDocument, newDocument, position, collection);
        if (keys != null) {
            keys.update(oldDocument, newDocument);
        }
    }

    @Override
    public long getCount() {
        return exact.getCount();
    }

    @Override
    public boolean isEmpty() {
        return exact.isEmpty();
    }

    @Override
    public long getDataSize() {
        return exact.getDataSize();
    }

    @Override
    public boolean isUnique() {
        return true;
    }

    @Override
    public void drop() {
        exact.drop();
    }
}
