/// <reference path="./.sst/platform/config.d.ts" />

/** Decisions are in infra/settings.ts, how to deploy is in docs/deploy.md. */
export default $config({
  async app(input) {
    const { settingsOf } = await import('./infra/settings');
    const settings = settingsOf(input.stage);
    return {
      name: 'svc',
      home: 'aws',
      removal: settings.isProtected ? 'retain' : 'remove',
      protect: settings.isProtected,
      providers: { aws: { region: settings.region as aws.Region } },
    };
  },
  async run() {
    const { deploy } = await import('./infra/deploy');
    return deploy();
  },
});
