import type { SpoolSettings } from './settings';

export interface Spool {
  readonly bucket: sst.aws.Bucket;
  /** `fragments.spool_location`. */
  readonly location: $util.Output<string>;
  /** All objects below the prefix, as policies name them. */
  readonly objects: $util.Output<string>;
}

/** Results too large for a function's stream, and inputs too large for its request: for minutes, at the longest for a day. */
export function createSpool({ prefix, expireDays }: SpoolSettings): Spool {
  const bucket = new sst.aws.Bucket('Spool', {
    cors: false,
    lifecycle: [{ id: 'expire', prefix, expiresIn: `${expireDays} days` }],
    transform: {
      lifecycle: (args) => {
        // Parts of an upload that was never completed are in no listing, and are billed.
        args.rules = $util.output(args.rules ?? []).apply((rules) =>
          rules.map((rule) => ({
            ...rule,
            abortIncompleteMultipartUpload: { daysAfterInitiation: expireDays },
          })),
        );
      },
    },
  });
  return {
    bucket,
    location: $interpolate`s3://${bucket.name}/${prefix}`,
    objects: $interpolate`${bucket.arn}/${prefix}*`,
  };
}
