import { publicKeyOf } from './function-keys';

/** What `sst secret set NAME` is asked for. docs/deploy.md says how each is made and changed. */
export interface Secrets {
  /** Signs fragments: coordinator and workers have it. */
  readonly workerSecret: $util.Output<string>;
  /** What workers show coordinators, and coordinators check them by; of its own authority. */
  readonly workerCertificate: $util.Output<string>;
  readonly workerCertificateKey: $util.Output<string>;
  /** The function's private keys, a JSON Web Key Set: the first is the current one. */
  readonly functionKeys: $util.Output<string>;
  /** The public half of the current one, which coordinators seal to. */
  readonly functionPublicKey: $util.Output<string>;
  readonly oidcClientSecret: $util.Output<string>;
}

export function readSecrets(): Secrets {
  const functionKeys = new sst.Secret('FunctionKeys').value;
  return {
    workerSecret: new sst.Secret('WorkerSecret').value,
    workerCertificate: new sst.Secret('WorkerCertificate').value,
    workerCertificateKey: new sst.Secret('WorkerCertificateKey').value,
    functionKeys,
    functionPublicKey: $util.unsecret(functionKeys.apply(publicKeyOf)),
    oidcClientSecret: new sst.Secret('OidcClientSecret').value,
  };
}

/** Environment variables of a task whose values are read when it starts, and are in no task definition. */
export interface TaskSecrets {
  /** Parameter by variable. */
  readonly arns: Readonly<Record<string, $util.Output<string>>>;
  /** Another text after any of them has changed: a task definition with it is another one, so that tasks are replaced. */
  readonly version: $util.Output<string>;
}

export function storeTaskSecrets(
  owner: string,
  values: Readonly<Record<string, $util.Input<string>>>,
): TaskSecrets {
  const parameters = Object.entries(values).map(
    ([variable, value]) =>
      [
        variable,
        new aws.ssm.Parameter(`${owner}${logicalName(variable)}`, {
          name: `/${$app.name}/${$app.stage}/${owner}/${variable}`,
          type: 'SecureString',
          value,
        }),
      ] as const,
  );
  return {
    arns: Object.fromEntries(parameters.map(([variable, parameter]) => [variable, parameter.arn])),
    version: $util
      .all(parameters.map(([, parameter]) => parameter.version))
      .apply((versions) => versions.join('.')),
  };
}

/** `SVC_WORKER__SECRET` as `WorkerSecret`, and `DEPLOY_FILE_SVC_WORKER__TLS_KEY` as `WorkerTlsKey`. */
function logicalName(variable: string): string {
  return variable
    .replace(/^(DEPLOY_FILE_)?SVC_/, '')
    .split('_')
    .filter((part) => part !== '')
    .map((part) => `${part.slice(0, 1)}${part.slice(1).toLowerCase()}`)
    .join('');
}
