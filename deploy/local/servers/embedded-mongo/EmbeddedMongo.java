import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
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
        adoptEarlier(Path.of(args[1]));
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

    /** Earlier versions can't read what this one writes: after it they find no file, and begin with an empty one. */
    private static void adoptEarlier(Path file) throws IOException {
        Path earlier = file.resolveSibling("store.h2");
        if (Files.exists(earlier) && !Files.exists(file)) {
            Files.move(earlier, file, StandardCopyOption.ATOMIC_MOVE);
        }
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
            return IndexedDatabase.open(name, getMvStore(), getCursorRegistry());
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
