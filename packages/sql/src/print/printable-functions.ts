/**
 * Functions whose calls mean the same when they are printed by name over arguments of the same types, and whose answer
 * depends on nothing but their arguments and the session's time zone. Everything else runs on one node.
 */
function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

export const printableFunctions: ReadonlySet<string> = names(`
  + - * / // % ** ^ & | << >> ~ || !~~ !~~* ~~ ~~* ~~~ ^@ @
  abs acos add array_contains array_extract array_has array_length array_slice ascii asin atan atan2 bin bit_count
  bit_length bit_position cbrt ceil ceiling century char_length character_length chr concat concat_ws contains cos
  cosh cot damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc
  day dayname dayofmonth dayofweek dayofyear days_in_month decade decode degrees divide element_at encode ends_with
  epoch epoch_ms epoch_ns epoch_us era even exp factorial fdiv flatten floor fmod format_bytes from_base64 from_hex
  gamma gcd greatest greatest_common_divisor hamming hash hex hour ilike_escape instr isfinite isinf isnan isodow isoyear jaccard
  jaro_similarity jaro_winkler_similarity julian last_day lcase lcm least least_common_multiple left left_grapheme
  len length length_grapheme levenshtein lgamma like_escape list_concat list_contains list_element list_extract list_has
  list_position list_slice list_sort list_reverse_sort list_value ln log log10 log2 lower lpad ltrim make_date make_time make_timestamp map
  map_contains map_entries map_extract map_extract_value map_keys map_values md5 microsecond millennium millisecond
  minute mismatches mod month monthname multiply nanosecond nextafter nfc_normalize normalized_interval not_ilike_escape not_like_escape octet_length
  ord pi pos position pow power prefix quarter radians regexp_escape regexp_extract regexp_full_match regexp_matches
  regexp_replace repeat replace reverse right right_grapheme round round_even roundbankers rpad rtrim second sha1
  sha256 sign signbit sin sinh split_part sqrt starts_with strftime strip_accents strlen strpos strptime
  string_split str_split string_to_array substr substring substring_grapheme subtract suffix tan tanh time_bucket
  timezone timezone_hour timezone_minute to_base64 to_centuries to_days to_decades to_hex to_hours to_microseconds
  to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years translate
  trim trunc try_strptime ucase unhex unicode upper url_decode url_encode week weekday weekofyear xor year yearweek
`);

/** Calls of them carry data of the engine that printing their arguments restores. */
export const functionsWithKnownData: ReadonlySet<string> = names('+ - * add subtract multiply');

/** Aggregates that are printed with their arguments alone. */
export const printableAggregates: ReadonlySet<string> = names(`
  any_value approx_count_distinct arbitrary arg_max arg_max_null arg_min arg_min_null argmax argmin array_agg avg
  bit_and bit_or bit_xor bool_and bool_or corr count count_if countif covar_pop covar_samp entropy favg first fsum
  kahan_sum kurtosis kurtosis_pop last list mad max max_by mean min min_by mode product regr_avgx regr_avgy regr_count
  regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy sem skewness stddev stddev_pop stddev_samp sum sumkahan
  var_pop var_samp variance
`);
