import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.h2.mvstore.MVStore;

/**
 * A MongoDB-compatible server on one H2 store file, for machines without mongod.
 *
 * <p>Usage: {@code java -cp 'lib/*:classes' EmbeddedMongo PORT FILE}. Listens on loopback only; SIGTERM closes the store cleanly.
 */
public final class EmbeddedMongo {
    private static final Set<String> WRITE_COMMANDS = Set.of(
            "insert", "update", "delete", "findAndModify", "findandmodify", "create", "createIndexes", "drop", "dropIndexes", "dropDatabase");

    /** An acknowledged write reaches the file within about this time; one that asks for {@code j: true} is in it when acknowledged. */
    private static final long COMMIT_INTERVAL_MS = 10;

    /** How long the space of a replaced chunk is kept for readers still on it; the store's default (45 s) lets the file grow tenfold. */
    private static final int CHUNK_RETENTION_MS = 5_000;

    private static final int CACHE_MEGABYTES = 32;

    private EmbeddedMongo() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        MVStore store = new MVStore.Builder().fileName(args[1]).cacheSize(CACHE_MEGABYTES).autoCompactFillRate(40).open();
        store.setRetentionTime(CHUNK_RETENTION_MS);
        DurableBackend backend = new DurableBackend(store);
        backend.version(new Version5());
        MongoServer server = new MongoServer(backend);
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.shutdownNow();
            stopped.countDown();
        }));
        server.bind("127.0.0.1", port);
        System.out.println("listening on 127.0.0.1:" + server.getLocalAddress().getPort());
        stopped.await();
    }

    /** The library's own 5.0 reports wire version 8, which current drivers refuse; it does speak what version 13 needs. */
    private static final class Version5 implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 13;
        }
    }

    /**
     * A unique index that also serves queries that ask for more than its keys. The library's own serves only queries for exactly
     * its keys and scans the whole collection for {@code {_id, status}}; what an index finds is checked against the whole query anyway.
     */
    private static final class PrefixIndex extends Index<Object> {
        private final Index<Object> exact;

        PrefixIndex(Index<Object> exact, List<IndexKey> keys, boolean sparse) {
            super(exact.getName(), keys, sparse);
            this.exact = exact;
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
        }

        @Override
        public Object remove(Document document) {
            return exact.remove(document);
        }

        @Override
        public void checkUpdate(Document oldDocument, Document newDocument, MongoCollection<Object> collection) {
            exact.checkUpdate(oldDocument, newDocument, collection);
        }

        @Override
        public void updateInPlace(Document oldDocument, Document newDocument, Object position, MongoCollection<Object> collection) {
            exact.updateInPlace(oldDocument, newDocument, position, collection);
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
            return exact.isUnique();
        }

        @Override
        public void drop() {
            exact.drop();
        }
    }

    /**
     * An index that may have many documents for a key, which the library itself does not have: it scans the whole collection, and
     * whoever needs a document of it meanwhile waits. Kept in memory, by the first of its fields, for queries that ask for one text
     * or several, or for true or false. What it finds is checked against the whole query anyway, so that it may find too much, but never too little.
     */
    private static final class TextIndex extends Index<Object> {
        private static final Object ANY_TEXT = new Object();

        /** Up to so many documents are fetched one by one; beyond a share of the collection a scan is quicker, which reads each page once. */
        private static final int FEW = 200;

        private static final int SHARE = 10;

        private final String field;
        private final String[] path;
        private final Supplier<MongoCollection<Object>> collection;
        /** Documents' ids by their text; in order of their insertion. */
        private final Map<Object, Set<Object>> ids = new HashMap<>();

        TextIndex(String name, List<IndexKey> keys, Supplier<MongoCollection<Object>> collection) {
            // Sparse, because it answers no positions when documents are removed.
            super(name, keys, true);
            this.field = keys.get(0).getKey();
            this.path = field.split("\\.");
            this.collection = collection;
        }

        private static boolean isKept(Object value) {
            return value instanceof String || value instanceof Boolean;
        }

        /** The document's text; ANY_TEXT where it may have several; null where no text can be found. */
        private Object textOf(Document document) {
            Object value = document;
            for (String part : path) {
                if (value instanceof Collection) {
                    return ANY_TEXT;
                }
                value = value instanceof Document inner ? inner.get(part) : null;
            }
            return value instanceof Collection ? ANY_TEXT : isKept(value) ? value : null;
        }

        /** The texts that a query asks for; null when it asks for something else. */
        private Collection<?> textsOf(Document query) {
            Object asked = query.get(field);
            if (asked instanceof Document operators && operators.size() == 1) {
                asked = operators.containsKey("$eq") ? operators.get("$eq") : operators.get("$in");
            }
            Collection<?> texts = asked instanceof Collection<?> several ? several : asked == null ? List.of() : List.of(asked);
            return !texts.isEmpty() && texts.stream().allMatch(TextIndex::isKept) ? texts : null;
        }

        private Set<Object> idsOf(Object text) {
            return ids.getOrDefault(text, Set.of());
        }

        private void put(Document document) {
            Object text = textOf(document);
            if (text != null) {
                ids.computeIfAbsent(text, key -> new LinkedHashSet<>()).add(document.get("_id"));
            }
        }

        private void take(Document document) {
            Object text = textOf(document);
            Set<Object> same = text == null ? null : ids.get(text);
            if (same != null && same.remove(document.get("_id")) && same.isEmpty()) {
                ids.remove(text);
            }
        }

        @Override
        public boolean canHandle(Document query) {
            Collection<?> texts = textsOf(query);
            if (texts == null) {
                return false;
            }
            int found = idsOf(ANY_TEXT).size();
            for (Object text : texts) {
                found += idsOf(text).size();
            }
            return found <= FEW || found <= collection.get().count() / SHARE;
        }

        @Override
        public Iterable<Object> getPositions(Document query) {
            Set<Object> found = new LinkedHashSet<>(idsOf(ANY_TEXT));
            for (Object text : textsOf(query)) {
                found.addAll(idsOf(text));
            }
            return found;
        }

        @Override
        public void add(Document document, Object position, MongoCollection<Object> collection) {
            put(document);
        }

        @Override
        public Object remove(Document document) {
            take(document);
            return null;
        }

        @Override
        public void updateInPlace(Document oldDocument, Document newDocument, Object position, MongoCollection<Object> collection) {
            if (!Objects.equals(textOf(oldDocument), textOf(newDocument))) {
                take(oldDocument);
                put(newDocument);
            }
        }

        /** So that the library fills it when it is added, which is when the store is opened, too. */
        @Override
        public boolean isEmpty() {
            return ids.isEmpty();
        }

        @Override
        public Object getPosition(Document document) {
            return null;
        }

        @Override
        public void checkAdd(Document document, MongoCollection<Object> collection) {
            // Any number of documents may have the same text.
        }

        @Override
        public void checkUpdate(Document oldDocument, Document newDocument, MongoCollection<Object> collection) {
            // Any number of documents may have the same text.
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
            ids.clear();
        }
    }

    private static final class IndexedDatabase extends H2Database {
        IndexedDatabase(String name, MVStore store, CursorRegistry cursors) {
            super(name, store, cursors);
        }

        @Override
        protected Index<Object> openOrCreateSecondaryIndex(String collection, String name, List<IndexKey> keys, boolean sparse) {
            return new TextIndex(name, keys, () -> resolveCollection(collection, true));
        }

        @Override
        protected Index<Object> openOrCreateUniqueIndex(String collection, String index, List<IndexKey> keys, boolean sparse) {
            return new PrefixIndex(super.openOrCreateUniqueIndex(collection, index, keys, sparse), keys, sparse);
        }
    }

    /** Commits the store soon after every write, from one thread, so that killing this process loses at most one interval. */
    private static final class DurableBackend extends H2Backend {
        private final Object monitor = new Object();
        private long written;
        private long committed;
        private int waiting;

        DurableBackend(MVStore store) {
            super(store);
            Thread committer = new Thread(this::commitForever, "committer");
            committer.setDaemon(true);
            committer.start();
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String name) {
            return new IndexedDatabase(name, getMvStore(), getCursorRegistry());
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            Document reply = super.handleMessage(message);
            Document request = message.getDocument();
            if (WRITE_COMMANDS.contains(request.keySet().iterator().next())) {
                noteWrite(wantsJournal(request));
            }
            return reply;
        }

        private static boolean wantsJournal(Document request) {
            return request.get("writeConcern") instanceof Document concern && Boolean.TRUE.equals(concern.get("j"));
        }

        private void noteWrite(boolean waitForCommit) {
            synchronized (monitor) {
                long mine = ++written;
                waiting += waitForCommit ? 1 : 0;
                monitor.notifyAll();
                while (waitForCommit && committed < mine && !getMvStore().isClosed()) {
                    waitOnMonitor(0);
                }
                waiting -= waitForCommit ? 1 : 0;
            }
        }

        private void commitForever() {
            while (!getMvStore().isClosed()) {
                long upTo;
                synchronized (monitor) {
                    while (written == committed) {
                        waitOnMonitor(0);
                    }
                    upTo = written;
                }
                getMvStore().commit();
                synchronized (monitor) {
                    committed = upTo;
                    monitor.notifyAll();
                    pauseUnlessAwaited();
                }
            }
        }

        private void pauseUnlessAwaited() {
            long end = System.nanoTime() + COMMIT_INTERVAL_MS * 1_000_000;
            long left;
            while (waiting == 0 && (left = (end - System.nanoTime()) / 1_000_000) > 0) {
                waitOnMonitor(left);
            }
        }

        private void waitOnMonitor(long timeoutMs) {
            try {
                monitor.wait(timeoutMs);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(interrupted);
            }
        }
    }
}
