import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What Lambda unpacks at most. */
const maxBytes = 250 * 2 ** 20;
/** `e_machine` of an ELF file for arm64. */
const arm64Machine = 183;
const nativeFiles = [
  { name: 'the engine library', form: /(^|\/)libduckdb\.so$/ },
  { name: 'the library that calls it (koffi)', form: /(^|\/)koffi\.node$/ },
] as const;

/**
 * Before anything is uploaded: the folder holds a streaming handler, and the native libraries of the function's own
 * platform. npm leaves out a missing optional package silently, and the first fragment would tell. Throws.
 */
export function assertFunctionBundle(folder: string, handler: string): void {
  const problems = bundleProblems(folder, handler);
  if (problems.length > 0)
    throw new Error(`The function's bundle ${folder} is not right:\n- ${problems.join('\n- ')}`);
}

export function bundleProblems(folder: string, handler: string): readonly string[] {
  if (!existsSync(folder)) return ['it does not exist: build it first (docs/deploy.md)'];
  const files = listFiles(folder);
  const problems: string[] = [];
  const [module = ''] = handler.split('.');
  const entry = files.find(({ path }) => path === `${module}.mjs` || path === `${module}.js`);
  if (entry === undefined) problems.push(`it has no module ${module}.mjs for the handler ${handler}`);
  else if (!readFileSync(join(folder, entry.path), 'utf8').includes('streamifyResponse'))
    problems.push(`${entry.path} does not stream: it never calls awslambda.streamifyResponse`);
  for (const { name, form } of nativeFiles) {
    const found = files.filter(({ path }) => form.test(path));
    if (found.length === 0) problems.push(`${name} is missing`);
    for (const { path } of found)
      if (elfMachine(join(folder, path)) !== arm64Machine)
        problems.push(`${path} is not a library for Linux arm64`);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > maxBytes) problems.push(`its ${bytes} bytes are more than the ${maxBytes} that Lambda unpacks`);
  return problems;
}

interface BundleFile {
  /** With `/`, below the folder. */
  readonly path: string;
  readonly bytes: number;
}

function listFiles(folder: string, below = ''): readonly BundleFile[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory()
      ? listFiles(folder, path)
      : [{ path, bytes: statSync(join(folder, path)).size }];
  });
}

/** Undefined for anything but an ELF file. */
function elfMachine(file: string): number | undefined {
  const header = Buffer.alloc(20);
  const descriptor = openSync(file, 'r');
  try {
    const isWhole = readSync(descriptor, header, 0, header.length, 0) === header.length;
    return isWhole && header.toString('latin1', 0, 4) === '\u007fELF' ? header.readUInt16LE(18) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
