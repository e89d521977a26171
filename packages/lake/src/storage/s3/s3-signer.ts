/** Signed addresses: who has one may do the one thing that it says, for as long as it says, without credentials. */
import type { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { type Connections, createConnections } from '../remote/connections.js';
import { type OpenS3, type S3Access, S3Connection, type S3Place } from './s3-connection.js';
import { parseS3Object } from './s3-location.js';

export interface S3SignerOptions extends S3Place {
  readonly access: S3Access;
  readonly connections?: Connections | undefined;
}

export interface S3Signer {
  /** An address that answers the object, or takes it. Nothing is sent. Throws what getting credentials throws. */
  sign(method: 'GET' | 'PUT', location: string, seconds: number, signal?: AbortSignal): Promise<string>;
}

/** A bucket's place, as the SDK finds it: in the host name or the path, of whatever region and endpoint. */
interface BucketPlace {
  readonly client: OpenS3['client'];
  readonly presigner: S3RequestPresigner;
  readonly address: URL;
}

const sampleKey = 'key';
const sampleSeconds = 60;

export function createS3Signer(options: S3SignerOptions): S3Signer {
  const connection = new S3Connection(options, options.access, options.connections ?? createConnections());
  const places = new Map<string, BucketPlace>();

  /** Asked once for a bucket: it takes twenty times as long as signing. */
  async function placeOf(bucket: string, { sdk, client }: OpenS3): Promise<BucketPlace> {
    const known = places.get(bucket);
    if (known?.client === client) return known;
    const { getSignedUrl, S3RequestPresigner } = await import('@aws-sdk/s3-request-presigner');
    const sample = new sdk.GetObjectCommand({ Bucket: bucket, Key: sampleKey });
    const address = new URL(await getSignedUrl(client, sample, { expiresIn: sampleSeconds }));
    const place = { client, presigner: new S3RequestPresigner({ ...client.config }), address };
    places.set(bucket, place);
    return place;
  }

  return {
    async sign(method, location, seconds, signal) {
      const { bucket, key } = parseS3Object(location);
      const { presigner, address } = await placeOf(bucket, await connection.open(signal));
      const path = address.pathname.slice(0, -sampleKey.length) + encodedKey(key);
      const { protocol, hostname, port, host } = address;
      const request = {
        method,
        protocol,
        hostname,
        ...(port === '' ? {} : { port: Number(port) }),
        path,
        query: {},
        headers: { host },
      };
      const { query = {} } = await presigner.presign(request, { expiresIn: seconds });
      const parameters = Object.entries(query).map(
        ([name, value]) => `${escaped(name)}=${escaped(String(value))}`,
      );
      return `${address.origin}${path}?${parameters.join('&')}`;
    },
  };
}

function encodedKey(key: string): string {
  return key.split('/').map(escaped).join('/');
}

/** As signatures are made over it: RFC 3986, which leaves less as it is than JavaScript does. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
