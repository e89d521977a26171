// What the kernel says about a process and everything it started. Linux: elsewhere the lists are empty.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The process ids below `pid`, itself included, parents first. */
export function descendantsOf(pid) {
  const children = new Map();
  for (const [id, parent] of parents()) {
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(id);
  }
  const found = [pid];
  for (const each of found) found.push(...(children.get(each) ?? []));
  return found;
}

export function isAlive(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== undefined && stateOf(stat) !== 'Z';
}

/** Processes that work in a folder or name it on their command line. */
export function processesUsing(folder) {
  return processIds().filter((pid) => {
    if (pid === process.pid || !isAlive(pid)) return false;
    if (read(`/proc/${pid}/cmdline`)?.includes(folder)) return true;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

function parents() {
  return processIds().flatMap((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    return stat === undefined ? [] : [[pid, Number(fieldsOf(stat)[1])]];
  });
}

function processIds() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function stateOf(stat) {
  return fieldsOf(stat)[0];
}

/** The fields after the command, which may itself hold blanks and parentheses. */
function fieldsOf(stat) {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
