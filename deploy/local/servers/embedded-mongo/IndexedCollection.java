import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.h2.mvstore.MVMap;

/**
 * A collection that answers queries by its indexes where the library scans it, and whoever needs a document of it meanwhile waits: a
 * sorted list with a limit is read in the order of an index, and other queries for what few documents have fetch only those.
 * What an index finds is checked against the whole query, so that it may find too much, but never too little.
 */
final class IndexedCollection extends H2Collection {
    /** Up to so many documents are fetched one by one, however small the collection is. */
    private static final int FEW = 200;

    /** In the order of an index they lie on pages all over the store: beyond this part of the collection a scan is quicker. */
    private static final int PART_IN_ORDER = 10;

    /** In the order of their ids each page is read once. */
    private static final int PART_BY_ID = 2;

    /** What the command that this thread is at begins with: documents that don't match it need not be read. */
    private static final ThreadLocal<Document> FIRST_MATCH = new ThreadLocal<>();

    private final DocumentStore store;
    private final MVMap<Object, Document> documents;
    private final String mapName;

    IndexedCollection(
            MongoDatabase database,
            String name,
            CollectionOptions options,
            DocumentStore store,
            MVMap<Object, Document> documents,
            MVMap<String, Object> meta,
            CursorRegistry cursors) {
        super(database, name, options, documents, meta, cursors);
        this.store = store;
        this.documents = documents;
        this.mapName = documents.getName();
    }

    private void journal(Object position, Document document) {
        store.journal(mapName, documents, Missing.ofNullable(position), document);
    }

    @Override
    protected Object addDocumentInternal(Document document) {
        Object position = super.addDocumentInternal(document);
        journal(position, document);
        return position;
    }

    @Override
    protected void handleUpdate(Object position, Document before, Document after) {
        super.handleUpdate(position, before, after);
        journal(position, after);
    }

    @Override
    protected void removeDocument(Object position) {
        super.removeDocument(position);
        journal(position, null);
    }

    /** Nobody asks for sizes: the library would encode a document before and after each change, and store their sum each time. */
    @Override
    protected boolean tracksDataSize() {
        return false;
    }

    @Override
    public synchronized void addIndex(Index<Object> index) {
        super.addIndex(index);
    }

    @Override
    public synchronized void dropIndex(String indexName) {
        super.dropIndex(indexName);
    }

    /** Reads the documents once for all indexes that don't know them yet. */
    synchronized void fillIndexes() {
        List<OrderedKeys> empty = orderedKeys().stream().filter(keys -> !keys.isFilled()).toList();
        List<HashedIndex> unknown = hashedIndexes().stream().filter(index -> !index.isFilled()).toList();
        if (empty.isEmpty() && unknown.isEmpty()) {
            return;
        }
        empty.forEach(OrderedKeys::setFilled);
        unknown.forEach(HashedIndex::setFilled);
        streamAllDocumentsWithPosition().forEach(found -> {
            empty.forEach(keys -> keys.add(found.getDocument()));
            unknown.forEach(index -> index.add(found.getDocument(), found.getPosition(), this));
        });
    }

    private List<OrderedKeys> orderedKeys() {
        List<OrderedKeys> found = new ArrayList<>();
        for (Index<Object> index : getIndexes()) {
            if (index instanceof OrderedIndex ordered) {
                found.add(ordered.keys);
            } else if (index instanceof UniqueIndex unique && unique.keys != null) {
                found.add(unique.keys);
            }
        }
        return found;
    }

    private List<HashedIndex> hashedIndexes() {
        List<HashedIndex> found = new ArrayList<>();
        for (Index<Object> index : getIndexes()) {
            if (index instanceof UniqueIndex unique && unique.hashed != null) {
                found.add(unique.hashed);
            }
        }
        return found;
    }

    @Override
    protected synchronized QueryResult queryDocuments(
            Document query, Document orderBy, int numberToSkip, int limit, int batchSize, Document fieldSelector) {
        boolean isSorted = orderBy != null && !orderBy.isEmpty();
        boolean isForAll = isSorted ? orderBy.containsKey("$natural") : query.isEmpty();
        if (!isForAll && !isUnique(query)) {
            fillIndexes();
            int most = Math.max(FEW, count() / PART_IN_ORDER);
            List<Selection> selections = selections(query);
            boolean isShort = isSorted && limit > 0 && (long) numberToSkip + limit <= most;
            List<Document> page = isShort ? readInOrder(selections, query, orderBy, numberToSkip, limit, most) : null;
            if (page != null) {
                return matchDocumentsFromStream(page.stream(), new Document(), null, 0, 0, batchSize, fieldSelector);
            }
            List<Object> few = find(query, selections, Math.max(FEW, count() / PART_BY_ID));
            if (few != null) {
                return matchDocuments(query, few, orderBy, numberToSkip, limit, batchSize, fieldSelector);
            }
        }
        return super.queryDocuments(query, orderBy, numberToSkip, limit, batchSize, fieldSelector);
    }

    /**
     * What is found is a copy: an update changes its document field by field, and an answer is encoded when the next update may have begun.
     * Values of fields are replaced, never changed, so that the copy need not be deep.
     */
    @Override
    protected QueryResult matchDocumentsFromStream(
            Document query,
            Stream<Document> stored,
            int numberToSkip,
            int limit,
            int batchSize,
            Comparator<Document> order,
            Document fieldSelector) {
        Stream<Document> found = stored.filter(document -> documentMatchesQuery(document, query)).map(Document::clone);
        return super.matchDocumentsFromStream(new Document(), found, numberToSkip, limit, batchSize, order, fieldSelector);
    }

    private boolean isUnique(Document query) {
        for (Index<Object> index : getIndexes()) {
            if (index.canHandle(query)) {
                return true;
            }
        }
        return false;
    }

    /** What each index knows of what a query asks for, the narrowest first. */
    private List<Selection> selections(Document query) {
        return orderedKeys().stream()
                .map(keys -> Selection.of(keys, query))
                .sorted(Comparator.comparingInt(Selection::narrowness).reversed())
                .toList();
    }

    /** A page of a sorted list; null when no index has its order, or when too many documents have to be passed over for it. */
    private List<Document> readInOrder(
            List<Selection> selections, Document query, Document orderBy, int numberToSkip, int limit, int most) {
        for (Selection selection : selections) {
            NavigableSet<Object[]> keys = selection.inOrder(orderBy);
            if (keys != null) {
                return readPage(keys.stream().filter(selection::admits).iterator(), query, numberToSkip, limit, most);
            }
        }
        return null;
    }

    private List<Document> readPage(Iterator<Object[]> keys, Document query, int numberToSkip, int limit, int most) {
        List<Document> page = new ArrayList<>();
        int skipped = 0;
        for (int read = 0; keys.hasNext() && page.size() < limit; read++) {
            if (read == most) {
                return null;
            }
            Document document = getDocument(OrderedKeys.idOf(keys.next()));
            if (documentMatchesQuery(document, query) && skipped++ >= numberToSkip) {
                page.add(document);
            }
        }
        return page;
    }

    /** The ids, in order, of all documents that a query may mean; null when they are too many, or when no index knows. */
    private List<Object> find(Document query, List<Selection> selections, int most) {
        Set<Object> ids = findByOne(selections, most);
        if (ids == null && query.get("$or") instanceof Collection<?> alternatives) {
            ids = new HashSet<>();
            for (Object alternative : alternatives) {
                Set<Object> some = findByOne(selections((Document) alternative), most - ids.size());
                if (some == null) {
                    return null;
                }
                ids.addAll(some);
            }
        }
        return ids == null ? null : ids.stream().sorted(OrderedKeys::compareIds).toList();
    }

    private static Set<Object> findByOne(List<Selection> selections, int most) {
        for (Selection selection : selections) {
            Set<Object> ids = new HashSet<>(selection.unordered());
            if (selection.narrowness() > 0 && ids.size() <= most && addUpTo(ids, selection, most)) {
                return ids;
            }
        }
        return null;
    }

    private static boolean addUpTo(Set<Object> ids, Selection selection, int most) {
        return selection.all().allMatch(keys -> {
            for (Object[] key : keys) {
                if (selection.admits(key) && ids.add(OrderedKeys.idOf(key)) && ids.size() > most) {
                    return false;
                }
            }
            return true;
        });
    }

    /** Runs an aggregation that begins with a match. */
    static <T> T withFirstMatch(Document match, Supplier<T> aggregation) {
        FIRST_MATCH.set(match);
        try {
            return aggregation.get();
        } finally {
            FIRST_MATCH.remove();
        }
    }

    /** All documents; within an aggregation, at first, those that its first stage matches. */
    @Override
    public Stream<Document> queryAllAsStream() {
        Document match = FIRST_MATCH.get();
        FIRST_MATCH.remove();
        return match == null ? super.queryAllAsStream() : handleQueryAsStream(match);
    }
}
