import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a query asks of one field, as far as an index can find it. It may ask for more; what an index finds is checked against the
 * whole query anyway.
 *
 * @param values those of which it must have one; null where none are named
 * @param range what its value must lie in
 */
record AskedField(List<Object> values, Range range) {
    static AskedField of(Document query, String field) {
        List<Object> values = null;
        Range range = Range.ALL;
        for (AskedField part : parts(query, field)) {
            values = values == null || part.values != null && part.values.size() < values.size() ? part.values : values;
            range = range.and(part.range);
        }
        return new AskedField(values, range);
    }

    private static List<AskedField> parts(Document query, String field) {
        List<AskedField> parts = new ArrayList<>();
        if (query.containsKey(field)) {
            parts.add(ofCondition(query.get(field)));
        }
        for (Document member : members(query, "$and")) {
            parts.addAll(parts(member, field));
        }
        Range either = null;
        for (Document member : members(query, "$or")) {
            AskedField asked = of(member, field);
            Range range = asked.values == null ? asked.range : spanned(asked.values);
            either = either == null ? range : either.or(range);
        }
        if (either != null) {
            parts.add(new AskedField(null, either));
        }
        return parts;
    }

    private static List<Document> members(Document query, String operator) {
        List<Document> members = new ArrayList<>();
        if (query.get(operator) instanceof Collection<?> several) {
            several.forEach(member -> members.add(member instanceof Document document ? document : new Document()));
        }
        return members;
    }

    private static Range spanned(List<Object> values) {
        return values.stream().map(Range::of).reduce(Range::or).orElse(Range.ALL);
    }

    private static AskedField ofCondition(Object condition) {
        if (!(condition instanceof Document operators)) {
            return new AskedField(valuesOf(List.of(condition == null ? new Document() : condition)), Range.ALL);
        }
        List<Object> values = null;
        Range range = Range.ALL;
        for (String operator : operators.keySet()) {
            Object operand = operators.get(operator);
            if (operator.equals("$eq") && operand != null) {
                values = valuesOf(List.of(operand));
            } else if (operator.equals("$in") && operand instanceof Collection<?> several) {
                values = valuesOf(several);
            } else if (operator.equals("$all") && operand instanceof Collection<?> several && !several.isEmpty()) {
                List<Object> all = valuesOf(several);
                values = all == null ? null : all.subList(0, 1);
            } else if (OrderedKeys.askable(operand) != null) {
                range = range.and(ofComparison(operator, OrderedKeys.askable(operand)));
            }
        }
        return new AskedField(values, range);
    }

    /** Null when one of them can't be looked for, or when there are none. */
    private static List<Object> valuesOf(Collection<?> several) {
        Set<Object> values = new LinkedHashSet<>();
        for (Object value : several) {
            Object askable = OrderedKeys.askable(value);
            if (askable == null) {
                return null;
            }
            values.add(askable);
        }
        return values.isEmpty() ? null : List.copyOf(values);
    }

    private static Range ofComparison(String operator, Object value) {
        return switch (operator) {
            case "$gt" -> new Range(value, true, null, false);
            case "$gte" -> new Range(value, false, null, false);
            case "$lt" -> new Range(null, false, value, true);
            case "$lte" -> new Range(null, false, value, false);
            default -> Range.ALL;
        };
    }
}
