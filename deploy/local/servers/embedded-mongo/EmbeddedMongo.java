import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * A MongoDB-compatible server on one H2 store file, for machines without mongod.
 *
 * <p>Usage: {@code java -cp 'lib/*:classes' EmbeddedMongo PORT FILE}. Listens on loopback only; SIGTERM closes the store cleanly.
 */
public final class EmbeddedMongo {
    /** After these, maps of the store are gone, which no journal says. */
    private static final Set<String> DROPS = Set.of("drop", "dropDatabase");

    private EmbeddedMongo() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        DocumentStore documents = DocumentStore.open(Path.of(args[1]));
        Backend backend = new Backend(documents);
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

    private static final class Backend extends H2Backend {
        /** What the library opens databases from before this object has fields. */
        private static DocumentStore opening;

        private final DocumentStore documents;

        Backend(DocumentStore documents) {
            super((opening = documents).mvStore());
            this.documents = documents;
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String name) {
            return IndexedDatabase.open(name, documents == null ? opening : documents, getCursorRegistry());
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            try {
                return super.handleMessage(message);
            } finally {
                if (DROPS.contains(message.getDocument().keySet().iterator().next())) {
                    documents.commit();
                }
            }
        }

        @Override
        public void close() {
            try {
                documents.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
