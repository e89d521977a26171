// For the platform that runs the container: exit code 0 once /readyz says so. The image has no curl.
const port = Number(process.env.SVC_METRICS__PROMETHEUS_PORT ?? 9090) + 1;
try {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
