import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { bashScript, fishScript, zshScript } from './shell-scripts.js';

const commands = [
  {
    name: 'sql',
    description: 'run SQL',
    options: [
      { name: 'format', short: undefined, value: ['csv', 'json'] },
      { name: 'file', short: 'f', value: 'file' as const },
    ],
    words: [],
  },
];

describe('the completion script of', () => {
  it('bash completes commands, options and values', (test) => {
    const complete = (...words: string[]) => {
      const program = `${bashScript(commands)}
COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _svc; echo "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', program], { encoding: 'utf8' });
    };
    if (complete('s').error !== undefined) {
      test.skip('there is no bash');
      return;
    }
    assert.equal(complete('s').stdout, 'sql\n');
    assert.equal(complete('sql', '--f').stdout, '--format --file\n');
    assert.equal(complete('sql', '--format', 'c').stdout, 'csv\n');
  });

  it('zsh and fish names every option', () => {
    for (const script of [zshScript(commands), fishScript(commands)])
      for (const word of ['sql', 'format', 'file', 'csv json']) assert.ok(script.includes(word), word);
  });
});
