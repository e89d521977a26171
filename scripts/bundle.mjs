// Joins the compiled modules of `svc`, and of its engine processes, into few files: a program of a thousand modules takes
// twice as long to start. Node loads what stands in packages/*/dist where it is not joined (WebAssembly, threads, koffi).
import { chmodSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const target = path.join(root, 'packages/cli/dist/bundle');
const main = 'main.mjs';
const engineHost = 'host-main.mjs';

await build({
  entryPoints: [
    path.join(root, 'packages/cli/dist/main.js'),
    path.join(root, 'packages/engine/dist/host/host-main.js'),
  ],
  outdir: target,
  entryNames: '[name]',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What is imported when it is needed stays a file of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Native; and CommonJS that is imported when it is needed, which joined would have no names.
  external: ['koffi', '@aws-sdk/*'],
  // Joined CommonJS modules ask for Node's own by `require`.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
  plugins: [{ name: 'places', setup: keepPlaces }],
});
chmodSync(path.join(target, main), 0o755);

/** A module finds files by where it stood before, whatever folder the tree is moved to. */
function keepPlaces({ onLoad }) {
  onLoad({ filter: /[/\\]packages[/\\][a-z-]+[/\\]dist[/\\].*\.js$/ }, async ({ path: file }) => {
    if (file.endsWith(path.join('pool', 'host-entry.js')))
      return { contents: `export const hostEntry = new URL('./${engineHost}', import.meta.url);` };
    const text = await readFile(file, 'utf8');
    const place = path.relative(target, file).split(path.sep).join('/');
    return { contents: text.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`) };
  });
}
