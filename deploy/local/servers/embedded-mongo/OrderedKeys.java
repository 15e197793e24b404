import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * The documents of a collection in the order of an index: by the values of its fields, each in its direction, then by their ids.
 *
 * <p>Kept in memory. A key is an array of values and, last, the document's id. Texts, numbers, booleans, dates and object ids are
 * values; a list of them gives one key for each. A document with anything else in one of the fields is {@link #unordered}.
 */
final class OrderedKeys {
    /** Stand for what is before, and after, every value of a field in the order of the keys. */
    private static final Object FIRST = new Object();

    private static final Object LAST = new Object();

    /** Stands for a list without elements. */
    private static final Object NOTHING = new Object();

    /** Stands for what has no order here. */
    private static final Object UNORDERED = new Object();

    /** Whole numbers up to this one are exact as doubles. */
    private static final double MAX_EXACT = 9_007_199_254_740_992.0;

    final String[] fields;

    private final String[][] paths;
    private final boolean[] descending;
    private final boolean idsDescending;
    private final NavigableSet<Object[]> keys = new TreeSet<>(this::compare);
    private final Set<Object> unordered = new HashSet<>();
    /** For each field, how many documents have a list there. */
    private final int[] lists;
    /** How many documents have no value for the first field. They have no key. */
    private int absent;

    private boolean isFilled;

    OrderedKeys(List<IndexKey> indexKeys) {
        int last = indexKeys.size() - 1;
        boolean endsWithId = indexKeys.get(last).getKey().equals("_id");
        List<IndexKey> own = endsWithId ? indexKeys.subList(0, last) : indexKeys;
        idsDescending = endsWithId && !indexKeys.get(last).isAscending();
        fields = own.stream().map(IndexKey::getKey).toArray(String[]::new);
        paths = own.stream().map(key -> key.getKey().split("\\.")).toArray(String[][]::new);
        descending = new boolean[fields.length];
        for (int i = 0; i < fields.length; i++) {
            descending[i] = !own.get(i).isAscending();
        }
        lists = new int[fields.length];
    }

    /** Whether it has a key for each document that there was. What is added before, isn't noted. */
    boolean isFilled() {
        return isFilled;
    }

    void setFilled() {
        isFilled = true;
    }

    boolean isDescending(int field) {
        return field == fields.length ? idsDescending : descending[field];
    }

    /** Documents that have no place in the order. */
    Set<Object> unordered() {
        return unordered;
    }

    boolean hasLists(int field) {
        return lists[field] > 0;
    }

    /** Whether there are documents that have no key, since they have no value for the first field. */
    boolean hasAbsent() {
        return absent > 0;
    }

    /**
     * A value as it stands in keys.
     *
     * @return null for what a query can't ask an index for
     */
    static Object askable(Object value) {
        Object kept = valueOf(value);
        return kept == UNORDERED ? null : kept;
    }

    private static Object valueOf(Object value) {
        if (Missing.isNullOrMissing(value)) {
            return null;
        }
        if (value instanceof String || value instanceof Boolean || value instanceof Instant || value instanceof ObjectId) {
            return value;
        }
        if (value instanceof Integer || value instanceof Long || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return Math.abs(number) < MAX_EXACT ? number + 0.0 : UNORDERED;
        }
        return UNORDERED;
    }

    private static Object read(Document document, String[] path) {
        Object value = document;
        for (String part : path) {
            if (value instanceof Collection) {
                return UNORDERED;
            }
            value = value instanceof Document inner ? inner.get(part) : null;
        }
        return value;
    }

    /** What a document has for each field: a value, or a set of them; null where it can't be ordered. */
    private Object[] partsOf(Document document) {
        Object[] parts = new Object[fields.length];
        boolean hasList = false;
        for (int i = 0; i < fields.length; i++) {
            Object value = read(document, paths[i]);
            if (value instanceof Collection<?> several && !hasList) {
                Set<Object> elements = new LinkedHashSet<>();
                several.forEach(element -> elements.add(valueOf(element)));
                parts[i] = elements;
                hasList = true;
                if (elements.contains(UNORDERED)) {
                    return null;
                }
            } else {
                parts[i] = value == UNORDERED ? UNORDERED : valueOf(value);
                if (parts[i] == UNORDERED) {
                    return null;
                }
            }
        }
        return parts;
    }

    private List<Object[]> keysOf(Object[] parts, Object id) {
        Object[] key = Arrays.copyOf(parts, parts.length + 1);
        key[parts.length] = id;
        for (int i = 0; i < parts.length; i++) {
            if (parts[i] instanceof Set<?> elements) {
                List<Object[]> several = new ArrayList<>();
                for (Object element : elements.isEmpty() ? Set.of(NOTHING) : elements) {
                    Object[] one = key.clone();
                    one[i] = element;
                    several.add(one);
                }
                return several;
            }
        }
        return Collections.singletonList(key);
    }

    void add(Document document) {
        change(document, 1);
    }

    void remove(Document document) {
        change(document, -1);
    }

    void update(Document before, Document after) {
        if (isFilled && !Arrays.equals(partsOf(before), partsOf(after))) {
            remove(before);
            add(after);
        }
    }

    private void change(Document document, int by) {
        if (!isFilled) {
            return;
        }
        Object id = document.get("_id");
        Object[] parts = partsOf(document);
        if (parts == null) {
            boolean changed = by > 0 ? unordered.add(id) : unordered.remove(id);
            return;
        }
        if (parts[0] == null) {
            absent += by;
            return;
        }
        for (int i = 0; i < parts.length; i++) {
            lists[i] += parts[i] instanceof Set ? by : 0;
        }
        for (Object[] key : keysOf(parts, id)) {
            boolean changed = by > 0 ? keys.add(shared(key)) : keys.remove(key);
        }
    }

    /** A key whose values are the very objects of its neighbour, as far as they are equal: many documents share them. */
    private Object[] shared(Object[] key) {
        Object[] neighbour = keys.floor(key);
        for (int i = 0; neighbour != null && i < fields.length && key[i] != null && key[i].equals(neighbour[i]); i++) {
            key[i] = neighbour[i];
        }
        return key;
    }

    /**
     * The keys with given values for the first fields, and within a range for the next.
     *
     * @param values one for each of the first fields
     * @param range of the field after them; may be null
     */
    NavigableSet<Object[]> select(List<Object> values, Range range) {
        int next = values.size();
        boolean isReversed = next < fields.length && descending[next];
        Range asked = range == null || next >= fields.length ? Range.ALL : range;
        Object low = isReversed ? asked.high() : asked.low();
        Object high = isReversed ? asked.low() : asked.high();
        boolean afterLow = isReversed ? asked.isBelowHigh() : asked.isAboveLow();
        boolean beforeHigh = isReversed ? asked.isAboveLow() : asked.isBelowHigh();
        Object[] from = probe(values, low, low == null || !afterLow ? FIRST : LAST);
        Object[] to = probe(values, high, high == null || !beforeHigh ? LAST : FIRST);
        return compare(from, to) > 0 ? Collections.emptyNavigableSet() : keys.subSet(from, true, to, true);
    }

    private Object[] probe(List<Object> values, Object next, Object rest) {
        Object[] probe = new Object[fields.length + 1];
        Arrays.fill(probe, rest);
        for (int i = 0; i < values.size(); i++) {
            probe[i] = values.get(i);
        }
        if (next != null) {
            probe[values.size()] = next;
        }
        return probe;
    }

    static Object idOf(Object[] key) {
        return key[key.length - 1];
    }

    private int compare(Object[] one, Object[] other) {
        for (int i = 0; i <= fields.length; i++) {
            Object a = one[i];
            Object b = other[i];
            if (a == b) {
                continue;
            }
            if (a == FIRST || b == LAST) {
                return -1;
            }
            if (a == LAST || b == FIRST) {
                return 1;
            }
            int order = compareValues(a, b);
            if (order != 0) {
                return isDescending(i) ? -order : order;
            }
        }
        return 0;
    }

    static int compareIds(Object a, Object b) {
        return compareValues(a, b);
    }

    /** The order that the library sorts by, for what keys hold. */
    static int compareValues(Object a, Object b) {
        if (a instanceof String one && b instanceof String other) {
            return one.compareTo(other);
        }
        if (a instanceof Double one && b instanceof Double other) {
            return one.compareTo(other);
        }
        if (a instanceof Instant one && b instanceof Instant other) {
            return one.compareTo(other);
        }
        if (a == NOTHING || b == NOTHING) {
            return a == b ? 0 : a == NOTHING ? -1 : 1;
        }
        return OF_LIBRARY.compare(a, b);
    }

    private static final Comparator<Object> OF_LIBRARY = ValueComparator.ascWithoutListHandling();
}
