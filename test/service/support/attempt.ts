import { QueryError } from '@svc/base';

/** The error code of a call that should fail; undefined when it does not. Rejects for errors that are not coded. */
export async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
}
