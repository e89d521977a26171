// Compiles packages/engine/assembly to WebAssembly, where it is newer than what was compiled last.
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const source = path.join(root, 'packages/engine/assembly/parquet-kernels.ts');
const target = path.join(root, 'packages/engine/dist/parquet-arrow/parquet-kernels.wasm');

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (timeOf(target) <= Math.max(timeOf(source), timeOf(import.meta.filename))) {
  // Loading the compiler takes longer than everything else here.
  const { default: asc } = await import('assemblyscript/asc');
  mkdirSync(path.dirname(target), { recursive: true });
  const { error, stderr } = await asc.main([
    path.relative(root, source),
    '--baseDir',
    root,
    '--outFile',
    path.relative(root, target),
    // No objects, so neither a collector nor imports; bounds are the pointers' business.
    ...['--runtime', 'stub', '--noAssert', '--enable', 'simd', '-O3'],
  ]);
  if (error !== null) {
    console.error(stderr.toString());
    process.exitCode = 1;
  }
}
