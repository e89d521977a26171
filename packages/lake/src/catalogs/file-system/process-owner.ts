/** Who made a file, in words that another process can check. */
import { hostname } from 'node:os';

/** `token` tells apart what one process makes several times; it has no blanks. */
export function processOwner(token: string): string {
  return `${process.pid} ${hostname()} ${token}`;
}

/** True of a process of this machine that is not there any more. */
export function hasEnded(owner: string): boolean {
  const [pid, host] = owner.split(' ');
  if (host !== hostname() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
