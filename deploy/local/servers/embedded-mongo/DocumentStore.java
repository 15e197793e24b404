import de.bwaldvogel.mongo.bson.Document;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.WriteBuffer;

/**
 * Documents in an H2 store, and a journal of those written since its last commit. A commit writes every page that has changed, with all
 * of its documents, and what the store knows of its chunks; a journal entry is one document. So each write is in the journal when it is
 * answered, and the store is committed once a second. What the journals hold is put into the store again when it is opened; they are
 * read in order, and an entry says what a document is, not what changes. Where one can't be written this process ends: what follows
 * would be lost.
 */
final class DocumentStore implements AutoCloseable {
    private static final long COMMIT_INTERVAL_MS = 1_000;

    /** Beyond this many bytes of the journal the store is committed before the interval is over. */
    private static final long LONG_JOURNAL = 32L << 20;

    /** The store's own thread, which also compacts it, commits only where this program has not for so long. */
    private static final int AUTO_COMMIT_MS = 3_000;

    /** How long the space of a replaced chunk is kept for readers still on it; the store's default (45 s) lets the file grow tenfold. */
    private static final int CHUNK_RETENTION_MS = 5_000;

    private static final int CACHE_MEGABYTES = 32;

    /** Changed pages beyond which the store commits by itself. */
    private static final int CHANGED_KILOBYTES = 16 << 10;

    private static final String DOCUMENTS = "databases.";

    /** A length and a checksum. */
    private static final int HEADER_BYTES = 2 * Integer.BYTES;

    /** What became of a document, or of all of a collection. */
    private static final byte REMOVED = 0, WRITTEN = 1, CLEARED = 2;

    private final MVStore store;
    private final Path file;
    private final Pattern journalName;
    private boolean isClosing;

    private WriteBuffer entry = new WriteBuffer();
    private final int entryCapacity = entry.capacity();
    private FileChannel journal;
    private long journalNumber;
    private long journalBytes;

    private DocumentStore(MVStore store, Path file) {
        this.store = store;
        this.file = file;
        this.journalName = Pattern.compile(Pattern.quote(file.getFileName() + ".journal.") + "(\\d+)");
    }

    /** Opens a store with what its journals hold. */
    static DocumentStore open(Path file) throws IOException {
        boolean isNew = !Files.exists(file);
        MVStore store = new MVStore.Builder()
                .fileName(file.toString())
                .cacheSize(CACHE_MEGABYTES)
                .autoCommitBufferSize(CHANGED_KILOBYTES)
                .autoCompactFillRate(40)
                .open();
        store.setRetentionTime(CHUNK_RETENTION_MS);
        store.setAutoCommitDelay(AUTO_COMMIT_MS);
        DocumentStore opened = new DocumentStore(store, file);
        if (isNew) {
            deleteAll(opened.journals());
        }
        for (Path journal : opened.journals()) {
            opened.journalNumber = opened.numberOf(journal);
            opened.replay(journal);
        }
        opened.beginJournal();
        opened.commit();
        Thread committer = new Thread(opened::commitForever, "committer");
        committer.setDaemon(true);
        committer.start();
        return opened;
    }

    MVStore mvStore() {
        return store;
    }

    MVMap<Object, Document> documentsOf(String fullName) {
        return openMap(DOCUMENTS + fullName);
    }

    private MVMap<Object, Document> openMap(String name) {
        return store.openMap(name, new MVMap.Builder<Object, Document>().valueType(new DocumentType()));
    }

    /**
     * Journals what a document is, after it was put into its map: a journal ends before the commit that may delete it begins, so that
     * its entries are in their maps by then.
     *
     * @param document null for one that was removed
     */
    synchronized void journal(String map, MVMap<Object, Document> documents, Object key, Document document) {
        begin(map, document == null ? REMOVED : WRITTEN);
        documents.getKeyType().write(entry, key);
        if (document != null) {
            documents.getValueType().write(entry, document);
        }
        append();
    }

    /** Removes all documents of a collection that begins: what one of its name had that was dropped right before a kill. */
    synchronized void clear(MVMap<Object, Document> documents) {
        documents.clear();
        begin(documents.getName(), CLEARED);
        append();
    }

    private void begin(String map, byte kind) {
        entry = entry.capacity() > entryCapacity ? new WriteBuffer() : entry.clear();
        entry.putInt(0).putInt(0).put(kind).putVarInt(map.length()).putStringData(map, map.length());
    }

    private void append() {
        ByteBuffer bytes = entry.getBuffer().flip();
        int length = bytes.limit() - HEADER_BYTES;
        bytes.putInt(0, length).putInt(Integer.BYTES, checksum(bytes.slice(HEADER_BYTES, length)));
        boolean isFirst = journalBytes == 0;
        journalBytes += bytes.limit();
        try {
            while (bytes.hasRemaining()) {
                journal.write(bytes);
            }
        } catch (IOException | RuntimeException failed) {
            throw end("a write can't be journalled", failed);
        }
        if (isFirst || journalBytes >= LONG_JOURNAL) {
            notifyAll();
        }
    }

    /** Puts all that is journalled into the store's file. */
    void commit() {
        synchronized (store) {
            if (isClosing) {
                return;
            }
            try {
                List<Path> ended = journals();
                beginJournal();
                // Where there is nothing to write, a commit of the store's own may not have come to the file yet.
                if (store.commit() >= 0) {
                    deleteAll(ended);
                }
            } catch (IOException | RuntimeException failed) {
                throw end("the store can't be committed", failed);
            }
        }
    }

    private synchronized void beginJournal() throws IOException {
        FileChannel earlier = journal;
        journal = FileChannel.open(journalOf(journalNumber + 1), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        journalNumber++;
        journalBytes = 0;
        if (earlier != null) {
            earlier.close();
        }
    }

    private void commitForever() {
        try {
            while (true) {
                waitForEntries();
                commit();
            }
        } catch (InterruptedException | RuntimeException | Error failed) {
            throw end("the store is committed no longer", failed);
        }
    }

    private synchronized void waitForEntries() throws InterruptedException {
        while (journalBytes == 0) {
            wait();
        }
        long end = System.nanoTime() + COMMIT_INTERVAL_MS * 1_000_000;
        long left;
        while (journalBytes < LONG_JOURNAL && (left = (end - System.nanoTime()) / 1_000_000) > 0) {
            wait(left);
        }
    }

    /** Closes the store, after which nothing is left to be put into it. */
    @Override
    public void close() throws IOException {
        synchronized (store) {
            isClosing = true;
            // One that can't write any more has closed itself.
            if (store.isClosed()) {
                return;
            }
            store.close();
            deleteAll(journals());
        }
    }

    /** The next start has all that was journalled. */
    private static Error end(String why, Throwable failed) {
        System.err.println(why + ": " + failed);
        Runtime.getRuntime().halt(1);
        return new Error(failed);
    }

    private Path journalOf(long number) {
        return file.resolveSibling(file.getFileName() + ".journal." + number);
    }

    /** Journals that are there, the oldest first. */
    private List<Path> journals() throws IOException {
        try (Stream<Path> siblings = Files.list(file.toAbsolutePath().getParent())) {
            return siblings.filter(path -> numberOf(path) >= 0).sorted(Comparator.comparingLong(this::numberOf)).toList();
        }
    }

    /** The number of a journal; -1 for another file. */
    private long numberOf(Path path) {
        Matcher matcher = journalName.matcher(path.getFileName().toString());
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    private static void deleteAll(List<Path> files) throws IOException {
        for (Path path : files) {
            Files.deleteIfExists(path);
        }
    }

    /** Up to the first entry that is not whole: the process was killed while it wrote that, and has answered nobody. */
    private void replay(Path path) throws IOException {
        ByteBuffer entries = ByteBuffer.wrap(Files.readAllBytes(path));
        while (entries.remaining() > HEADER_BYTES) {
            int length = entries.getInt();
            int sum = entries.getInt();
            if (length <= 0 || length > entries.remaining() || sum != checksum(entries.slice(entries.position(), length))) {
                return;
            }
            int end = entries.position() + length;
            replayOne(entries);
            entries.position(end);
        }
    }

    private void replayOne(ByteBuffer entry) {
        byte kind = entry.get();
        MVMap<Object, Document> documents = openMap(DataUtils.readString(entry));
        if (kind == CLEARED) {
            documents.clear();
            return;
        }
        Object key = documents.getKeyType().read(entry);
        if (kind == REMOVED) {
            documents.remove(key);
        } else {
            documents.put(key, documents.getValueType().read(entry));
        }
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return (int) sum.getValue();
    }
}
