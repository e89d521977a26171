// The model of Lambda that docs/performance.md holds: `node bench/model/lambda.mjs` prints it. It measures nothing.
import { pathToFileURL } from 'node:url';
import { loadConfig } from '@svc/base';
import { lambdaModel, maxSplitsPerTask, modelLambdaScan } from '@svc/coordinator';

const TB = 1e12;
const GB = 1e9;
const MiB = 2 ** 20;
const scans = [100 * GB, TB];
const counts = [1, 16, 64, 256];
const splitBytes = loadConfig({ environment: {} })['fragments.split_bytes'];

function assumptions() {
  const {
    networkBytesPerSecond,
    memoryGb,
    dollarsPerGbSecond,
    dollarsPerInvocation,
    dollarsPerGet,
    bytesPerGet,
  } = lambdaModel;
  const milliseconds = (seconds) => `${(seconds * 1000).toFixed(1)} ms`;
  return [
    ['what a function brings from storage', `${networkBytesPerSecond / MiB} MiB/s`],
    ['memory of a function', `${(memoryGb * 1024).toFixed(0)} MB`],
    ['split, of the columns that are read', `${splitBytes / MiB} MiB`],
    ['splits of an invocation', `${maxSplitsPerTask}`],
    ['cold start, with a fragment of nothing', milliseconds(lambdaModel.coldStartSeconds)],
    ['invocation of a warm sandbox, beside its splits', milliseconds(lambdaModel.invocationSeconds)],
    ['each split, beside its bytes', milliseconds(lambdaModel.splitSeconds)],
    ["the coordinator's processor, of each invocation", milliseconds(lambdaModel.mergeSeconds)],
    ['a GB-second', `$${dollarsPerGbSecond.toFixed(10)}`],
    ['a million invocations', `$${(dollarsPerInvocation * 1e6).toFixed(2)}`],
    [`a million GETs, each of at most ${bytesPerGet / MiB} MiB`, `$${(dollarsPerGet * 1e6).toFixed(2)}`],
  ];
}

function figures() {
  return scans.flatMap((bytes) => {
    const model = (functions) =>
      modelLambdaScan({ bytes, splitBytes, splitsPerInvocation: maxSplitsPerTask, functions });
    return counts.map((functions) => {
      const { seconds, mergeSeconds, dollars } = model(functions);
      return [
        bytes === TB ? '1 TB' : `${bytes / GB} GB`,
        functions,
        `${seconds.toFixed(0)} s`,
        `${(model(1).seconds / seconds).toFixed(1)} ×`,
        `${mergeSeconds.toFixed(1)} s`,
        `$${((dollars * TB) / bytes).toFixed(3)}`,
      ];
    });
  });
}

function markdown(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function lambdaTables() {
  return [
    markdown(['assumed', ''], assumptions()),
    markdown(
      ['scan of', 'functions', 'takes', 'speedup', "of which the coordinator's processor", 'dollars per TB'],
      figures(),
    ),
  ].join('\n\n');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(lambdaTables());
