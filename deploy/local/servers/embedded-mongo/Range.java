/**
 * What a query leaves of a field's values.
 *
 * @param low the least of them; null where there is none
 * @param isAboveLow whether the least itself is left out
 * @param high the greatest; null where there is none
 * @param isBelowHigh whether the greatest itself is left out
 */
record Range(Object low, boolean isAboveLow, Object high, boolean isBelowHigh) {
    static final Range ALL = new Range(null, false, null, false);

    static Range of(Object value) {
        return new Range(value, false, value, false);
    }

    boolean isBounded() {
        return low != null || high != null;
    }

    /** What is in this one and in another. */
    Range and(Range other) {
        int lows = low == null ? -1 : other.low == null ? 1 : OrderedKeys.compareValues(low, other.low);
        int highs = high == null ? 1 : other.high == null ? -1 : OrderedKeys.compareValues(high, other.high);
        return new Range(
                lows >= 0 ? low : other.low,
                lows == 0 ? isAboveLow || other.isAboveLow : lows > 0 ? isAboveLow : other.isAboveLow,
                highs <= 0 ? high : other.high,
                highs == 0 ? isBelowHigh || other.isBelowHigh : highs < 0 ? isBelowHigh : other.isBelowHigh);
    }

    /** The least range that holds what is in this one and what is in another. */
    Range or(Range other) {
        int lows = low == null || other.low == null ? 0 : OrderedKeys.compareValues(low, other.low);
        int highs = high == null || other.high == null ? 0 : OrderedKeys.compareValues(high, other.high);
        return new Range(
                low == null || other.low == null ? null : lows <= 0 ? low : other.low,
                lows == 0 ? isAboveLow && other.isAboveLow : lows < 0 ? isAboveLow : other.isAboveLow,
                high == null || other.high == null ? null : highs >= 0 ? high : other.high,
                highs == 0 ? isBelowHigh && other.isBelowHigh : highs > 0 ? isBelowHigh : other.isBelowHigh);
    }
}
