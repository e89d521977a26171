// The memory of one process that plans a scan of every file of a table. Prints JSON: MiB above the process at rest.
import { createFileStore, createFileSystemCatalog, createMetadataFiles, planFiles } from '@svc/lake';

const [root, use] = [process.argv[2] ?? '', JSON.parse(process.argv[3] ?? 'null')];
const MiB = 2 ** 20;
const files = createMetadataFiles(64 * MiB);
const catalog = createFileSystemCatalog({ root, store: createFileStore(), files });
const table = await catalog.loadTable({ namespace: ['bench'], name: 'events' });
const atRest = process.memoryUsage.rss() / MiB;
const request = { columns: undefined, filters: [], ...(use && { use }) };
const plan = await planFiles(table, { kind: 'current' }, request, { files });
const mebibytes = process.resourceUsage().maxRSS / 1024 - atRest;
console.log(JSON.stringify({ planned: plan.files.length, mebibytes }));
