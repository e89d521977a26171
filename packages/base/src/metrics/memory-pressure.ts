/** Shares of the limit at which pressure 1, 2 and 3 begin. */
const thresholds = [0.7, 0.85, 0.95] as const;

/**
 * The pressure gauge of the specification, 0 to 3: 0 below 70 % of the limit, 1 from 70 %, 2 from 85 %, 3 from 95 %.
 * Without a limit (0) there is no pressure.
 */
export function memoryPressure(usedBytes: number, limitBytes: number): 0 | 1 | 2 | 3 {
  if (limitBytes <= 0) return 0;
  const share = usedBytes / limitBytes;
  if (share >= thresholds[2]) return 3;
  if (share >= thresholds[1]) return 2;
  return share >= thresholds[0] ? 1 : 0;
}
