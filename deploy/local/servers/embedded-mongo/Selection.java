import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.stream.Stream;

/** The keys of one index that a query may mean: those with given values for its first fields, and within a range for the next. */
final class Selection {
    /** A query that names more values than this, over all fields, is narrowed by fewer fields. */
    private static final int MOST_RANGES = 2_000;

    private final OrderedKeys keys;
    /** For each of the first fields, those of which it must have one. */
    private final List<List<Object>> values;
    /** Of the field after those. */
    private final Range range;
    /** For each field, the values of which it must have one; null where none are named. */
    private final List<Set<Object>> named;

    private Selection(OrderedKeys keys, List<List<Object>> values, Range range, List<Set<Object>> named) {
        this.keys = keys;
        this.values = values;
        this.range = range;
        this.named = named;
    }

    static Selection of(OrderedKeys keys, Document query) {
        List<AskedField> asked = Stream.of(keys.fields).map(field -> AskedField.of(query, field)).toList();
        List<Set<Object>> named = new ArrayList<>();
        asked.forEach(field -> named.add(field.values() == null ? null : Set.copyOf(field.values())));
        List<List<Object>> values = new ArrayList<>();
        int ranges = 1;
        for (int i = 0; i < asked.size(); i++) {
            List<Object> several = asked.get(i).values();
            if (several == null || ranges * several.size() > MOST_RANGES) {
                // Of several values in a list, one may be above the lower end and another below the upper one.
                return new Selection(keys, values, keys.hasLists(i) ? Range.ALL : asked.get(i).range(), named);
            }
            values.add(several);
            ranges *= several.size();
        }
        return new Selection(keys, values, Range.ALL, named);
    }

    /** Whether the document of one of its keys may be meant, as far as the key tells. */
    boolean admits(Object[] key) {
        for (int i = values.size() + 1; i < named.size(); i++) {
            if (named.get(i) != null && !(key[i] != null && named.get(i).contains(key[i]))) {
                return false;
            }
        }
        return true;
    }

    /** How many fields narrow it down; 0 when it is the whole index. */
    int narrowness() {
        return 2 * values.size() + (range.isBounded() ? 1 : 0);
    }

    Set<Object> unordered() {
        return keys.unordered();
    }

    /** All its keys, in pieces. Documents that are {@link #unordered} may be meant as well. */
    Stream<NavigableSet<Object[]>> all() {
        List<List<Object>> combined = List.of(List.of());
        for (List<Object> several : values) {
            List<List<Object>> longer = new ArrayList<>();
            for (List<Object> first : combined) {
                for (Object value : several) {
                    List<Object> one = new ArrayList<>(first);
                    one.add(value);
                    longer.add(one);
                }
            }
            combined = longer;
        }
        return combined.stream().map(each -> keys.select(each, range));
    }

    /** Its keys in the order that a query asks for, with those of all documents that it may mean; null when the index has another order. */
    NavigableSet<Object[]> inOrder(Document orderBy) {
        boolean mayLackSome = values.isEmpty() && !range.isBounded() && keys.hasAbsent();
        boolean isInPieces = values.stream().anyMatch(several -> several.size() > 1);
        if (mayLackSome || isInPieces || !keys.unordered().isEmpty() || mayNameOneTwice()) {
            return null;
        }
        Boolean isReversed = null;
        int next = values.size();
        for (String field : orderBy.keySet()) {
            int given = List.of(keys.fields).indexOf(field);
            if (given >= 0 && given < values.size() && !keys.hasLists(given)) {
                continue;
            }
            if (next > keys.fields.length || !field.equals(next == keys.fields.length ? "_id" : keys.fields[next])) {
                return null;
            }
            boolean isOpposite = ((Number) orderBy.get(field)).intValue() < 0 != keys.isDescending(next);
            if (isReversed != null && isReversed != isOpposite) {
                return null;
            }
            isReversed = isOpposite;
            next++;
        }
        NavigableSet<Object[]> selected = all().findFirst().orElseThrow();
        return Boolean.TRUE.equals(isReversed) ? selected.descendingSet() : selected;
    }

    /** Whether a document may have several of its keys, since it has a list in a field for which no value is given. */
    private boolean mayNameOneTwice() {
        for (int i = values.size(); i < keys.fields.length; i++) {
            if (keys.hasLists(i)) {
                return true;
            }
        }
        return false;
    }
}
