import type { SqlOptions } from '../options.js';
import { terminalSize } from '../output/terminal-size.js';
import { ProgressLine } from './progress-line.js';

/** On standard error, and only for somebody who looks at it. */
export function progressLine(options: SqlOptions, isTerminal: boolean): ProgressLine | undefined {
  if (!options.hasProgress || !process.stderr.isTTY) return undefined;
  return new ProgressLine({
    write: (text) => process.stderr.write(text),
    width: () => terminalSize(process.stderr).columns,
    sharesTerminal: isTerminal,
  });
}
