// Makes the folder that a function is deployed from: one file of all its modules, and beside it what Node and the engine
// load as files. Words choose another platform than this machine's: `linux-arm64`, whose packages must then be installed
// (npm install --os=linux --cpu=arm64).
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const target = path.join(root, 'packages/fragment-fn/dist/lambda');
const platform = process.argv[2] ?? `${process.platform}-${process.arch}`;
const engineLibrary = platform.startsWith('darwin') ? 'libduckdb.dylib' : 'libduckdb.so';
const fromEngine = createRequire(path.join(root, 'packages/engine/package.json'));
const fromKoffi = createRequire(fromEngine.resolve('koffi'));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
copyBeside(
  path.join(packageFolder(fromEngine, `@duckdb/node-bindings-${platform}`), engineLibrary),
  engineLibrary,
);
copyBeside(
  path.join(packageFolder(fromKoffi, `@koromix/koffi-${platform}`), platform.replace('-', '_'), 'koffi.node'),
  'koffi.node',
);
copyBeside(
  path.join(root, 'packages/engine/dist/parquet-arrow/parquet-kernels.wasm'),
  'parquet-kernels.wasm',
);

await build({
  entryPoints: [path.join(root, 'packages/fragment-fn/dist/lambda.js')],
  outfile: path.join(target, 'index.mjs'),
  bundle: true,
  minify: true,
  keepNames: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Modules that say what they export: of those only what is used is taken along.
  mainFields: ['module', 'main'],
  // Joined CommonJS modules ask for Node's own by `require`.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
  plugins: [{ name: 'beside', setup: loadFromBeside }],
});

/** Nothing is searched for: what is loaded as a file lies beside the bundle. */
function loadFromBeside({ onLoad, onResolve }) {
  onResolve({ filter: /^koffi$/ }, () => ({ path: 'koffi', namespace: 'beside' }));
  onLoad({ filter: /.*/, namespace: 'beside' }, () => ({
    contents: "export default createRequireOfBundle(import.meta.url)('./koffi.node');",
  }));
  onLoad({ filter: /[/\\]capi[/\\]locate-library\.js$/ }, () => ({
    contents: `import { fileURLToPath } from 'node:url';
export const locateDuckDb = () => fileURLToPath(new URL('./${engineLibrary}', import.meta.url));`,
  }));
}

function copyBeside(file, name) {
  if (!existsSync(file)) missing(file);
  copyFileSync(file, path.join(target, name));
}

function packageFolder(require, name) {
  try {
    return path.dirname(require.resolve(`${name}/package.json`));
  } catch {
    return missing(name);
  }
}

function missing(what) {
  console.error(
    `The function for ${platform} needs ${path.relative(root, what) || what}, which is not installed.`,
  );
  process.exit(1);
}
