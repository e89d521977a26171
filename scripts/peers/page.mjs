/**
 * Runs the programs of a documentation page as a reader would: with the address and the files that the page names.
 *
 * A program is a fenced block of Go or Java, or all blocks of Python or R of one section, in their order. What a comment
 * shows behind an arrow (`# → 42`) must be printed, line by line in that order.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../support/peer-environment.mjs';
import { rEnvironment } from '../support/r-environment.mjs';
import { runCommand } from '../support/run-command.mjs';

const programTimeoutMs = 10 * 60_000;
const joined = new Set(['python', 'r']);
const whole = new Set(['go', 'java']);

/** What pages call the service of a variant: a program is run where its address is. */
const addresses = { plain: '127.0.0.1:50051', tls: 'lake.example.com:50051' };

export async function runPage({ peer, service, tools, report }) {
  const address = addresses[peer.variant];
  const folder = path.join(service.folder, 'page');
  mkdirSync(path.join(folder, '.svc'), { recursive: true });
  writeFileSync(path.join(folder, '.svc', 'local-password'), `${service.password}\n`);
  copyFileSync(tools.certificate, path.join(folder, 'ca.pem'));
  for (const program of programsOf(readFileSync(path.join(tools.root, peer.page), 'utf8'))) {
    if (!program.code.includes(address) && isAddressed(program)) continue;
    const name = `${peer.name}: ${program.section}, ${program.language}`;
    const code = program.code.replaceAll(address, `${service.host}:${service.flightPort}`);
    try {
      report({ name, ...(await runProgram({ ...program, code }, folder, tools)) });
    } catch (error) {
      report({ name, ok: false, detail: error.message });
    }
  }
}

/** A program that names no service is run as well: none goes untested. */
function isAddressed({ code }) {
  return Object.values(addresses).some((address) => code.includes(address));
}

async function runProgram(program, folder, tools) {
  const [command, args, env] = await prepare(program, folder, tools);
  const options = { cwd: folder, env: { ...process.env, ...env }, timeoutMs: programTimeoutMs };
  const { code, output, seconds } = await runCommand(command, args, options);
  const missing = missingLine(expectedLines(program.code), output.split('\n'));
  const reason = code === 0 ? `did not print ${JSON.stringify(missing)}` : `ended with ${code}`;
  const ok = code === 0 && missing === undefined;
  return { ok, seconds, detail: ok ? '' : `${reason}\n${output.slice(-2000)}` };
}

/** Programs of the page in their order: `{ section, language, code }`. */
function programsOf(text) {
  const programs = [];
  let section = '';
  let block;
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (block !== undefined && fence !== null) {
      add(programs, { ...block, code: `${block.lines.join('\n')}\n` });
      block = undefined;
    } else if (block !== undefined) block.lines.push(line);
    else if (fence !== null) block = { section, language: fence[1], lines: [] };
    else if (line.startsWith('## ')) section = line.slice(3);
  }
  return programs;
}

function add(programs, { section, language, code }) {
  const last = programs.findLast((program) => program.section === section && program.language === language);
  if (joined.has(language) && last !== undefined) last.code += code;
  else if (joined.has(language) || whole.has(language)) programs.push({ section, language, code });
}

function expectedLines(code) {
  return [...code.matchAll(/(?:#|\/\/) → (.*)$/gm)].map(([, line]) => line.trim());
}

/** The first expected line that the output lacks behind the ones before it. */
function missingLine(expected, printed) {
  let at = 0;
  return expected.find((line) => {
    const found = printed.findIndex((text, index) => index >= at && text.trim() === line);
    at = found + 1;
    return found < 0;
  });
}

/** Command, arguments and environment; what only programs of one language need is installed here. */
async function prepare({ section, language, code }, folder, tools) {
  const name = section.toLowerCase().replace(/\W+/g, '-');
  const write = (file) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), code);
    return file;
  };
  switch (language) {
    case 'python':
      return [tools.python, [write(`${name}.py`)], {}];
    case 'java':
      return [
        'java',
        ['--add-opens=java.base/java.nio=ALL-UNNAMED', '-cp', tools.jar, write(`${name}/Main.java`)],
        {},
      ];
    case 'go': {
      const modules = path.join(tools.peersFolder, 'page');
      write(`${name}/main.go`);
      for (const file of ['go.mod', 'go.sum'])
        copyFileSync(path.join(modules, file), path.join(folder, file));
      return ['go', ['run', `./${name}`], goEnvironment()];
    }
    case 'r': {
      const { command, args, env } = await rEnvironment();
      return [
        command,
        [...args, '--no-echo', '--no-restore', '-f', write(`${name}.R`)],
        { ...env, RETICULATE_PYTHON: tools.python },
      ];
    }
    default:
      throw new Error(`Nothing is known of programs in ${language}.`);
  }
}

/** Modules and what was built of them are kept with the other clients; go.sum says which they must be. */
function goEnvironment() {
  const cache = path.join(cacheFolder(), 'go');
  return {
    GOMODCACHE: path.join(cache, 'modules'),
    GOCACHE: path.join(cache, 'build'),
    GOFLAGS: '-mod=readonly -modcacherw',
  };
}
