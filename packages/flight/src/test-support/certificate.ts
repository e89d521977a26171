import { generate } from 'selfsigned';

/** A certificate for localhost and 127.0.0.1 that signs itself. */
export async function selfSignedCertificate(): Promise<{
  readonly certPem: string;
  readonly keyPem: string;
}> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { certPem: cert, keyPem: key };
}
