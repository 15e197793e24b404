import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.oplog.Oplog;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/** A database whose collections answer by their indexes. They are filled when it is opened. */
final class IndexedDatabase extends H2Database {
    /** The store of the database that a thread is opening: the library opens its collections before this object has fields. */
    private static final ThreadLocal<MVStore> OPENING = new ThreadLocal<>();

    private final MVStore store;

    /** Those opened so far. Without an initial value, which would be set after the library has opened some. */
    private List<IndexedCollection> opened;

    private IndexedDatabase(String name, MVStore store, CursorRegistry cursors) {
        super(name, store, cursors);
        this.store = store;
    }

    static IndexedDatabase open(String name, MVStore store, CursorRegistry cursors) {
        OPENING.set(store);
        try {
            IndexedDatabase database = new IndexedDatabase(name, store, cursors);
            if (database.opened != null) {
                database.opened.forEach(IndexedCollection::fillIndexes);
                database.opened = null;
            }
            return database;
        } finally {
            OPENING.remove();
        }
    }

    private MVStore currentStore() {
        return store == null ? OPENING.get() : store;
    }

    private MVMap<Object, Document> documentsOf(String fullName) {
        MVMap.Builder<Object, Document> builder = new MVMap.Builder<>();
        return currentStore().openMap("databases." + fullName, builder.valueType(new DocumentType()));
    }

    @Override
    protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
        String fullName = getFullCollectionNamespace(name);
        MVMap<Object, Document> documents = documentsOf(fullName);
        MVMap<String, Object> meta = currentStore().openMap("meta." + fullName);
        IndexedCollection collection = new IndexedCollection(this, name, options, documents, meta, cursorRegistry);
        if (store == null) {
            opened = opened == null ? new ArrayList<>() : opened;
            opened.add(collection);
        }
        return collection;
    }

    @Override
    public Document handleCommand(Channel channel, String command, Document query, DatabaseResolver resolver, Oplog oplog) {
        boolean isAggregation = command.equals("aggregate") && query.get("pipeline") instanceof List<?> stages && !stages.isEmpty();
        Object first = isAggregation ? ((List<?>) query.get("pipeline")).get(0) : null;
        return first instanceof Document stage && stage.get("$match") instanceof Document match
                ? IndexedCollection.withFirstMatch(match, () -> super.handleCommand(channel, command, query, resolver, oplog))
                : super.handleCommand(channel, command, query, resolver, oplog);
    }

    @Override
    protected Index<Object> openOrCreateSecondaryIndex(String collection, String name, List<IndexKey> keys, boolean sparse) {
        return new OrderedIndex(name, keys);
    }

    @Override
    protected Index<Object> openOrCreateUniqueIndex(String collection, String name, List<IndexKey> keys, boolean sparse) {
        String fullName = getFullCollectionNamespace(collection);
        boolean isById = keys.size() == 1 && keys.get(0).getKey().equals("_id");
        Index<Object> exact = isById
                ? new IdIndex(name, keys, sparse, documentsOf(fullName))
                : new HashedIndex(name, keys, sparse, store != null);
        forgetStored(fullName + "._index_" + name);
        return new UniqueIndex(exact, keys, sparse);
    }

    /** Earlier versions kept unique indexes in the store. */
    private void forgetStored(String index) {
        if (currentStore().hasMap(index)) {
            currentStore().removeMap(index);
        }
    }
}
