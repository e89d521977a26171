import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '../errors/query-error.js';
import { type ConfigSources, loadConfig } from './load-config.js';
import { type Config, environmentName, settingsByKey } from './registry.js';

const GiB = 2 ** 30;
const MiB = 2 ** 20;

describe('loadConfig', () => {
  it('has every default without a file and without variables', () => {
    const config = load({});
    assert.equal(config['server.flight_port'], 50_051);
    assert.equal(config['metrics.prometheus_port'], 9090);
    assert.equal(config['server.bind_address'], '127.0.0.1');
    assert.equal(config['auth.idp_url'], undefined);
    assert.deepEqual(Object.keys(config), [...settingsByKey.keys()]);
  });

  it('cannot be changed', () => {
    assert.ok(Object.isFrozen(load({})));
  });

  it('reads the file, and lets the environment win', () => {
    const config = load({
      toml: '[server]\nflight_port = 6000\ntls_terminated_upstream = true\n[query]\nmemory_limit = "1 GiB"',
      environment: { SVC_SERVER__FLIGHT_PORT: '7000', SVC_QUERY__TIMEOUT_SECS: '2.5' },
    });
    assert.equal(config['server.flight_port'], 7000);
    assert.equal(config['server.tls_terminated_upstream'], true);
    assert.equal(config['query.memory_limit'], GiB);
    assert.equal(config['query.timeout_secs'], 2.5);
  });

  it('leaves variables alone that are not of the form SVC_SECTION__KEY', () => {
    load({ environment: { SVC_USER: 'ada', SVC_PASSWORD: 'x', SVC_SERVICE_HOST: '10.0.0.1', A__B: '1' } });
  });

  it('makes paths absolute from the working folder and the home folder', () => {
    const config = load({
      toml: '[server]\ndata_dir = "~/svc"\ntls_cert = "cert.pem"\ntls_key = "/key.pem"',
    });
    assert.equal(config['server.data_dir'], '/home/ada/svc');
    assert.equal(config['catalog.path'], '/home/ada/svc/warehouse');
    assert.equal(config['server.tls_cert'], '/work/cert.pem');
    assert.equal(config['server.tls_key'], '/key.pem');
  });

  it('registers samples only in the default catalog, or when told to', () => {
    assert.equal(load({})['samples.enabled'], true);
    assert.equal(load({ toml: '[catalog]\npath = "/data"' })['samples.enabled'], false);
    const both = load({ toml: '[catalog]\npath = "/data"\n[samples]\nenabled = true' });
    assert.equal(both['samples.enabled'], true);
  });
});

describe('defaults that follow the machine', () => {
  it('fits a small container, a laptop and a large machine', () => {
    const sizes = [
      [1, 1 * GiB],
      [2, 8 * GiB],
      [64, 256 * GiB],
    ].map(([cores = 0, memoryBytes = 0]) => {
      const config = load({ machine: { cores, memoryBytes } });
      return [config['query.max_concurrent'], config['query.memory_limit'] / MiB, config['engine.threads']];
    });
    assert.deepEqual(sizes, [
      [1, 614, 1],
      [4, 1228, 2],
      [64, 2457, 9],
    ]);
  });

  it('shares the memory between the concurrency that was asked for', () => {
    assert.equal(load({ toml: '[query]\nmax_concurrent = 8' })['query.memory_limit'], 614 * MiB);
    assert.equal(load({ toml: '[query]\nmemory_limit = "4 GiB"' })['query.max_concurrent'], 1);
  });

  it('follows a smaller bound down', () => {
    const config = load({
      toml: '[query]\nspool_total_bytes = "1 GiB"\n[session]\nmax_age_secs = 60\n[server]\nmax_request_bytes = "64 KiB"',
    });
    assert.equal(config['query.spool_bytes'], GiB);
    assert.equal(config['session.idle_timeout_secs'], 60);
    assert.equal(config['query.max_sql_bytes'], 64 * 1024);
  });

  it('stays inside the allowed ranges on any machine', () => {
    for (const [cores, memoryBytes] of [
      [1, 64 * MiB],
      [4096, 2 ** 45],
    ] as const) {
      const config = load({ machine: { cores, memoryBytes } });
      for (const [key, setting] of settingsByKey) {
        const value = config[key as keyof Config];
        if (typeof value === 'number')
          assert.equal(setting.type.fromText(String(value)).kind, 'value', `${key} = ${value}`);
      }
    }
  });
});

describe('a configuration that is refused', () => {
  it('lists every problem at once, with where it came from and what would be right', () => {
    const message = problems({
      toml: '[server]\nflight_port = 70000\n[query]\ntimeout_secs = "fast"',
      environment: { SVC_ENGINE__THREADS: 'all' },
    });
    assert.match(message, /svc\.toml: `server\.flight_port` must be an integer from 0 to 65535, not 70000/);
    assert.match(message, /svc\.toml: `query\.timeout_secs` must be a number of seconds .*, not "fast"/);
    assert.match(
      message,
      /environment variable SVC_ENGINE__THREADS: `engine\.threads` must be .*, not "all"/,
    );
  });

  it('checks a value of the file that the environment replaces', () => {
    const environment = { SVC_SERVER__FLIGHT_PORT: '7000' };
    assert.match(problems({ toml: '[server]\nflight_port = "x"', environment }), /`server\.flight_port`/);
  });

  it('names the nearest key for an unknown one', () => {
    assert.match(
      problems({ toml: '[server]\nfligt_port = 1' }),
      /`server\.fligt_port`.*`server\.flight_port`/,
    );
    assert.match(problems({ toml: 'flight_port = 1' }), /`flight_port`.*`server\.flight_port`/);
    assert.match(problems({ toml: '[sever]\ndata_dir = "x"' }), /`sever\.data_dir`.*`server\.data_dir`/);
    assert.match(problems({ toml: '[server.tls]\ncert = "x"' }), /`server\.tls`.*`server\.tls_(cert|key)`/);
    const variable = problems({ environment: { SVC_SERVER__FLIGHT_PROT: '1' } });
    assert.match(variable, /SVC_SERVER__FLIGHT_PROT.*`SVC_SERVER__FLIGHT_PORT`/);
  });

  it('takes no shape but sections with keys', () => {
    assert.match(problems({ toml: 'server = 5' }), /`server` must be a table/);
    assert.match(problems({ toml: '[[server]]\nflight_port = 1' }), /`server` must be a table/);
    assert.match(problems({ toml: '[other]' }), /unknown key `other`/);
    assert.match(problems({ toml: '"server.flight_port" = 1' }), /unknown key `"server\.flight_port"`/);
    assert.match(problems({ toml: '[__proto__]\na = 1\n[constructor]' }), /__proto__\.a.*constructor/s);
    load({ toml: '[server]' });
  });

  it('refuses the dashboard from either place, the file for now and the environment for good', () => {
    assert.match(problems({ toml: '[metrics]\nweb_ui = true' }), /`metrics\.web_ui` cannot be used/);
    const environment = { SVC_METRICS__WEB_UI: 'false' };
    assert.match(problems({ environment }), /SVC_METRICS__WEB_UI.*only be set in the configuration file/);
    assert.equal(load({ toml: '[metrics]\nweb_ui = false' })['metrics.web_ui'], false);
  });

  it('refuses each key whose feature is not built, and takes its empty value', () => {
    for (const [key, setting] of settingsByKey) {
      if (setting.notBuilt === undefined || key === 'metrics.web_ui') continue;
      const message = problems({ environment: { [environmentName(key)]: '0.5' } });
      assert.ok(message.includes(`\`${key}\` cannot be used: ${setting.notBuilt}`), message);
    }
    load({ environment: { SVC_METRICS__OTLP_ENDPOINT: '' }, toml: '[metrics]\naudit_log_path = ""' });
  });

  it('says line and column of a syntax error, and nothing of the text, which may hold secrets', () => {
    const message = problems({ toml: '[auth]\nclient_secret = "hunter2' });
    assert.match(message, /svc\.toml:2:17: unfinished string/);
    assert.doesNotMatch(message, /hunter2/);
  });

  it('never prints a secret or a URL', () => {
    const message = problems({
      toml: '[auth]\nclient_secret = "hunter2"\nidp_url = "https://ada:hunter2@idp.example"',
      environment: { SVC_STORAGE__S3_SECRET_KEY: 'hunter2', SVC_AUTH__SECRET: 'hunter2' },
    });
    assert.doesNotMatch(message, /hunter2/);
  });

  it('opens to other machines only with an identity provider', () => {
    for (const address of ['0.0.0.0', '::', '10.1.2.3', 'db.example.com']) {
      const message = problems({ toml: `[server]\nbind_address = "${address}"` });
      assert.match(message, /only a loopback address .*`auth\.idp_url`/);
    }
    for (const address of ['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', 'localhost'])
      load({ toml: `[server]\nbind_address = "${address}"` });
  });

  it('asks for what a way to sign in needs', () => {
    const password = '[auth]\nidp_url = "https://idp.example"\n';
    assert.match(problems({ toml: password }), /`auth\.idp_url` is set, but `auth\.client_id` is not/);
    load({ toml: `${password}client_id = "svc"` });
    const service = '[auth]\ntoken_endpoint = "https://idp.example/token"\nclient_id = "svc"\n';
    assert.match(
      problems({ toml: service }),
      /`auth\.token_endpoint` is set, but `auth\.client_secret` is not/,
    );
    load({ toml: `${service}client_secret = "s"\nhandshake_password = "p"` });
    assert.match(
      problems({ toml: `${password}client_id = "svc"\nhandshake_password = "p"` }),
      /handshake_password.*password grant/,
    );
  });

  it('sends no password over an open line to an identity provider, but on loopback or when told to', () => {
    const toml = (url: string) => `[auth]\nclient_id = "svc"\nidp_url = "${url}"\n`;
    assert.match(problems({ toml: toml('http://idp.example') }), /`auth\.idp_url` is not https/);
    load({ toml: `${toml('http://idp.example')}allow_http = true` });
    for (const url of ['http://127.0.0.1:8080', 'http://localhost', 'http://[::1]/', 'https://idp.example'])
      load({ toml: toml(url) });
  });

  it('takes the client itself as the audience of access tokens, unless told another', () => {
    const toml = '[auth]\nidp_url = "https://idp.example"\nclient_id = "svc"\n';
    assert.deepEqual(load({ toml })['auth.audience'], ['svc']);
    assert.deepEqual(load({ toml: `${toml}audience = ["a", "b"]` })['auth.audience'], ['a', 'b']);
    assert.match(problems({ toml: `${toml}algorithms = ["HS256"]` }), /`auth\.algorithms` must be a list/);
  });

  it('finds keys that contradict each other', () => {
    assert.match(
      problems({ toml: '[server]\ntls_cert = "c.pem"' }),
      /`server\.tls_key` is not: TLS needs both/,
    );
    assert.match(problems({ toml: '[server]\nflight_port = 9091' }), /takes 9090 for metrics and 9091/);
    assert.match(problems({ toml: '[metrics]\nprometheus_port = 65535' }), /one port above/);
    const sizes = '[query]\nspool_bytes = "2 GiB"\nspool_total_bytes = "1 GiB"';
    assert.match(problems({ toml: sizes }), /`query\.spool_bytes` is 2 GiB, which is more than/);
  });

  it('takes keys of object storage together, and only without anonymous access', () => {
    const keys = '[storage]\ns3_access_key = "a"\ns3_secret_key = "b"\n';
    assert.equal(load({ toml: `${keys}s3_session_token = "c"` })['storage.s3_session_token'], 'c');
    assert.match(problems({ toml: '[storage]\ns3_secret_key = "b"' }), /`storage\.s3_access_key` is not/);
    assert.match(problems({ toml: '[storage]\ns3_session_token = "c"' }), /the keys that it belongs to/);
    assert.match(problems({ toml: `${keys}s3_anonymous = true` }), /signed or they are not/);
    assert.equal(load({})['storage.s3_path_style'], false);
    assert.equal(
      load({ toml: '[storage]\ns3_endpoint = "http://host:9000"' })['storage.s3_path_style'],
      true,
    );
  });

  it('takes the keys of a way to sign in together, and only over https', () => {
    const idp = '[auth]\nidp_url = "https://id.example"\n';
    assert.deepEqual(load({ toml: `${idp}client_id = "svc"` })['auth.audience'], ['svc']);
    assert.match(problems({ toml: idp }), /`auth\.client_id` is not: it is needed/);
    assert.match(problems({ toml: `${idp}handshake_password = "x"` }), /remove one of them/);
    const endpoint = '[auth]\ntoken_endpoint = "https://id.example/token"\nclient_id = "svc"';
    assert.match(problems({ toml: endpoint }), /`auth\.client_secret` is not: it is needed/);
    const open = '[auth]\nclient_id = "svc"\nidp_url = "http://id.example"';
    assert.match(problems({ toml: open }), /`auth\.idp_url` is not https/);
    load({ toml: `${open}\nallow_http = true` });
    load({ toml: '[auth]\nclient_id = "svc"\nidp_url = "http://127.0.0.1:8080"' });
    assert.match(problems({ toml: '[auth]\nissuer = "https://id.example"' }), /`auth\.audience` names none/);
  });

  it('refuses the names of the engine’s own catalogs for ours', () => {
    for (const name of ['temp', 'system', 'memory'])
      assert.match(
        problems({ toml: `[catalog]\nname = "${name}"` }),
        /catalogs of the engine: use another name/,
      );
    load({ toml: '[catalog]\nname = "temporary"' });
  });

  it('does not derive a second problem from a value it refused', () => {
    const message = problems({ toml: '[server]\ntls_cert = 5\ntls_key = "key.pem"' });
    assert.doesNotMatch(message, /TLS needs both/);
  });
});

interface Given {
  readonly toml?: string;
  readonly environment?: Record<string, string>;
  readonly machine?: ConfigSources['machine'];
}

function load({ toml, environment = {}, machine = { cores: 2, memoryBytes: 8 * GiB } }: Given): Config {
  return loadConfig({
    toml: toml === undefined ? undefined : { path: 'svc.toml', text: toml },
    environment,
    workingDirectory: '/work',
    homeDirectory: '/home/ada',
    machine,
  });
}

function problems(given: Given): string {
  try {
    load(given);
  } catch (caught) {
    assert.ok(caught instanceof QueryError);
    assert.equal(caught.code, 'CONFIGURATION_ERROR');
    return caught.message;
  }
  return assert.fail('The configuration was taken.');
}
