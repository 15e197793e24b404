import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.oplog.Oplog;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.h2.mvstore.MVMap;

/** A database whose collections answer by their indexes. They are filled when it is opened. */
final class IndexedDatabase extends H2Database {
    /** The store of the database that a thread is opening: the library opens its collections before this object has fields. */
    private static final ThreadLocal<DocumentStore> OPENING = new ThreadLocal<>();

    /** Commands that the library lets overtake one another between their look for what is there and what they make. */
    private static final Set<String> DEFINING = Set.of("create", "createIndexes", "drop", "dropIndexes");

    private final DocumentStore store;

    /** Those opened so far. Without an initial value, which would be set after the library has opened some. */
    private List<IndexedCollection> opened;

    private IndexedDatabase(String name, DocumentStore store, CursorRegistry cursors) {
        super(name, store.mvStore(), cursors);
        this.store = store;
    }

    static IndexedDatabase open(String name, DocumentStore store, CursorRegistry cursors) {
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

    private DocumentStore currentStore() {
        return store == null ? OPENING.get() : store;
    }

    @Override
    protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
        String fullName = getFullCollectionNamespace(name);
        MVMap<Object, Document> documents = currentStore().documentsOf(fullName);
        MVMap<String, Object> meta = currentStore().mvStore().openMap("meta." + fullName);
        IndexedCollection collection = new IndexedCollection(this, name, options, currentStore(), documents, meta, cursorRegistry);
        if (store == null) {
            opened = opened == null ? new ArrayList<>() : opened;
            opened.add(collection);
        } else {
            store.clear(documents);
        }
        return collection;
    }

    @Override
    protected MongoCollection<Object> resolveOrCreateCollection(String name) {
        MongoCollection<Object> found = resolveCollection(name, false);
        if (found != null) {
            return found;
        }
        synchronized (this) {
            return super.resolveOrCreateCollection(name);
        }
    }

    /** Its documents would stay behind if the process were killed meanwhile; nobody here needs it. */
    @Override
    public void moveCollection(MongoDatabase from, MongoCollection<?> collection, String newName) {
        throw new MongoServerError(115, "CommandNotSupported", "renameCollection and $out are not supported");
    }

    @Override
    public Document handleCommand(Channel channel, String command, Document query, DatabaseResolver resolver, Oplog oplog) {
        if (DEFINING.contains(command)) {
            synchronized (this) {
                return super.handleCommand(channel, command, query, resolver, oplog);
            }
        }
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
        boolean isById = keys.size() == 1 && keys.get(0).getKey().equals("_id");
        Index<Object> exact = isById
                ? new IdIndex(name, keys, sparse, currentStore().documentsOf(getFullCollectionNamespace(collection)))
                : new HashedIndex(name, keys, sparse, store != null);
        return new UniqueIndex(exact, keys, sparse);
    }
}
