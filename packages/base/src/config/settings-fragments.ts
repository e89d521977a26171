import { optional, setting } from './setting.js';
import { bytes, string, url } from './value-types.js';

const TiB = 2 ** 40;
const GiB = 2 ** 30;
const MiB = 2 ** 20;
const KiB = 2 ** 10;
const MB = 10 ** 6;

/** What is run elsewhere, in which pieces, and what their rows go through. */
export const fragmentSettings = {
  'fragments.split_bytes': setting(
    bytes(MB, 64 * GiB),
    64 * MiB,
    'Bytes of the needed columns that a fragment elsewhere is given at a time: the unit of retry.',
  ),
  'fragments.distribute_bytes': setting(
    bytes(0, 1024 * TiB),
    256 * MiB,
    'Statements that read less run on this machine, whatever workers and functions there are.',
  ),
  'fragments.lambda_bytes': setting(
    bytes(0, 1024 * TiB),
    8 * GiB,
    'Statements that read more have functions help, where there are workers too.',
  ),
  'fragments.gather_bytes': setting(
    bytes(1 * MiB, 16 * GiB),
    32 * MiB,
    'Memory for the rows of one stage of a query until they are read; beyond it they go to a file (`query.spool_bytes`), then fragments wait.',
  ),
  'fragments.broadcast_bytes': setting(
    bytes(64 * KiB, 1 * GiB),
    128 * MiB,
    'Rows of one stage that every fragment behind it may be given; a statement that needs more runs on one node. Without a spool (`fragments.spool_location`) no more than 32 MiB.',
  ),
  'fragments.broadcast_inline_bytes': setting(
    bytes(0, 32 * MiB),
    1 * MiB,
    'Such rows up to this size travel within each fragment; more lie in the spool (`fragments.spool_location`) once for all of them, where there is one.',
  ),
  'fragments.spool_location': optional(
    string,
    "`s3://bucket/prefix` that large fragments, large answers of functions and large rows between stages go through, signed with the coordinator's credentials of the AWS tools; objects below it should expire by a lifecycle rule of a day. A function needs it.",
  ),
  'fragments.spool_region': optional(string, 'Region of that bucket; not set: what the AWS tools say.'),
  'fragments.spool_endpoint': optional(
    url,
    'Endpoint of the storage of that bucket, as the coordinator, workers and the function reach it; not set: AWS.',
  ),
} as const;
