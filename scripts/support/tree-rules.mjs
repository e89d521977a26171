// Rules about the tracked files themselves: their length, what the lock file and the sources must not name.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { runCommand } from './run-command.mjs';

const maxLines = 600;
const sourceFile = /\.(ts|mts|mjs|js|css|html|py|java|sh|toml|md|sql|slt)$/;
const generatedFile = /(^|\/)(gen|testdata)\//;

/** Answers one line per problem. Looks at tracked and new files, not at what .gitignore leaves out. */
export async function treeProblems(root) {
  const listed = await runCommand('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  if (listed.code !== 0) return [`git ls-files failed: ${listed.output.trim()}`];
  const files = listed.output.split('\n').filter((file) => file !== '');
  return files.flatMap((file) => fileProblems(root, file));
}

function fileProblems(root, file) {
  const text = readText(path.join(root, file));
  if (text === undefined) return [];
  const lines = text.split('\n');
  const problems = [];
  if (sourceFile.test(file) && !generatedFile.test(file) && lines.length - 1 > maxLines)
    problems.push(`${file}: ${lines.length - 1} lines, the limit is ${maxLines}`);
  const rules = file === 'package-lock.json' ? lockFileRules : machinePathRules(root);
  lines.forEach((line, index) => {
    for (const { pattern, says } of rules)
      if (pattern.test(line)) problems.push(`${file}:${index + 1}: ${says}`);
  });
  return problems;
}

const lockFileRules = [{ pattern: /"resolved":\s*"https?:/, says: 'a download address in the lock file' }];

function machinePathRules(root) {
  const folders = [root, homedir()].filter((folder) => folder !== '/').map(literally);
  return [{ pattern: new RegExp(`(?:${folders.join('|')})/`), says: 'a path of this machine' }];
}

function literally(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** `undefined` for binary files and for those deleted in the working tree. */
function readText(file) {
  try {
    const bytes = readFileSync(file);
    return bytes.includes(0) ? undefined : bytes.toString('utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw error;
  }
}
