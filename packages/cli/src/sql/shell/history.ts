/** The lines of earlier sessions, in a file that only its owner can read. */
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const maxHistoryLines = 2000;

/** `~/.svc_history`, or what the variable names; an empty text turns the history off. */
export function historyPath(variable: string | undefined): string | undefined {
  if (variable === '') return undefined;
  return variable ?? join(homedir(), '.svc_history');
}

/** Newest first, as readline wants it. A file that cannot be read is no history. */
export async function readHistory(path: string | undefined): Promise<string[]> {
  if (path === undefined) return [];
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-maxHistoryLines)
    .reverse();
}

/**
 * Adds this session's lines (oldest first) to what the file has by now: another shell may have added its own. The file
 * is replaced as a whole. A history that cannot be written is lost; nothing else is.
 */
export async function addToHistory(path: string | undefined, lines: readonly string[]): Promise<void> {
  if (path === undefined || lines.length === 0) return;
  const all = [...(await readHistory(path)).reverse(), ...lines].slice(-maxHistoryLines);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${all.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
