import { optional, setting } from './setting.js';
import { oneOf, path, string, url } from './value-types.js';

/** Where rules come from about who may see what (docs/policies.md). */
export const policySettings = {
  'policy.default': setting(
    oneOf('allow', 'deny'),
    'allow',
    'Whether tables that no policy and no grant names may be used by everybody, or by nobody.',
  ),
  'policy.rules_file': optional(
    path,
    'TOML file with policies and grants beside those of SQL; a change is taken within seconds, a file that is not right keeps the rules that hold and says so.',
  ),
  'policy.location': optional(
    string,
    'Object (`s3://bucket/key`) that keeps the policies and grants of SQL where several coordinators share them, read and written with the credentials of the AWS tools; not set: `policies.json` below `server.data_dir`.',
  ),
  'policy.endpoint': optional(url, 'Endpoint of the object storage of `policy.location`; not set: AWS.'),
  'policy.region': optional(
    string,
    'Region of that storage; not set: what the AWS tools say where their credentials are used.',
  ),
} as const;
