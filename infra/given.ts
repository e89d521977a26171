/** What the owner of a deployment has to say: variables of the shell, or of the file `.env.<stage>`, which sst reads. */
export interface Given {
  /** The host name that clients connect to. */
  readonly domain: string;
  /** Of that name, in the region; without it one is made and validated through the account's own DNS zone. */
  readonly certificateArn: string | undefined;
  /** Who may connect to the load balancer. Nobody, unless it is said. */
  readonly clientCidrs: readonly string[];
  /** Who is told of alarms. */
  readonly alarmEmail: string | undefined;
  /** Configuration keys of the service that only the owner can know, under their own names. */
  readonly serviceKeys: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string | undefined>>;

const requiredKeys = ['SVC_CATALOG__CATALOG_URL', 'SVC_AUTH__IDP_URL', 'SVC_AUTH__CLIENT_ID'] as const;
const optionalKeys = [
  'SVC_CATALOG__NAME',
  'SVC_CATALOG__WAREHOUSE',
  'SVC_AUTH__REALM',
  'SVC_AUTH__AUDIENCE',
  'SVC_AUTH__USERNAME_CLAIM',
  'SVC_AUTH__ADMIN_ROLE',
] as const;

const cidrForm = /^(?:\d{1,3}\.){3}\d{1,3}\/(?:\d|[12]\d|3[0-2])$/;

/** Throws once, with everything that is missing or wrong. */
export function readGiven(variables: Variables): Given {
  const problems: string[] = [];
  const read = (name: string): string | undefined => variables[name]?.trim() || undefined;
  const need = (name: string): string => {
    const value = read(name);
    if (value === undefined) problems.push(`${name} is not set`);
    return value ?? '';
  };
  const clientCidrs = need('SVC_DEPLOY_CLIENT_CIDRS')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (const cidr of clientCidrs)
    if (!cidrForm.test(cidr))
      problems.push(
        `SVC_DEPLOY_CLIENT_CIDRS: ${JSON.stringify(cidr)} is no IPv4 range such as 203.0.113.0/24`,
      );
  const given: Given = {
    domain: need('SVC_DEPLOY_DOMAIN'),
    certificateArn: read('SVC_DEPLOY_CERTIFICATE_ARN'),
    clientCidrs,
    alarmEmail: read('SVC_DEPLOY_ALARM_EMAIL'),
    serviceKeys: Object.fromEntries([
      ...requiredKeys.map((key) => [key, need(key)] as const),
      ...optionalKeys.flatMap((key) => {
        const value = read(key);
        return value === undefined ? [] : [[key, value] as const];
      }),
    ]),
  };
  if (problems.length > 0)
    throw new Error(
      `The deployment lacks what only its owner knows (docs/deploy.md):\n- ${problems.join('\n- ')}`,
    );
  return given;
}
