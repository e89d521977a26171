import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { keptWhileDownMs, type ProviderMetadata } from './discovery.js';
import { createKeptDocument, type KeptDocument } from './kept-document.js';
import { isJsonObject, type JsonObject, type ProviderClient } from './provider-client.js';
import { unavailable } from './unavailable.js';

/** Finds the key that a token names. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

export interface KeySetOptions {
  readonly client: ProviderClient;
  readonly metadata: KeptDocument<ProviderMetadata>;
  readonly elapsed: () => number;
}

/** A key that the provider has withdrawn is trusted for this long at most while the provider answers. */
const freshMs = 10 * 60_000;

/**
 * The provider's public keys. jose's own remote set is not used: it has nothing to serve with while the provider is
 * down, asks again for every token then, and measures its times by the clock that a person can set.
 */
export function createKeySet({ client, metadata, elapsed }: KeySetOptions): KeptDocument<KeySet> {
  return createKeptDocument({
    load: async () => toKeySet(await client.get('keys', (await metadata.get()).keysUrl)),
    freshMs,
    keptMs: keptWhileDownMs,
    elapsed,
  });
}

function toKeySet(document: JsonObject): KeySet {
  if (!isKeySet(document)) throw unavailable('has a key set that is not one');
  try {
    return createLocalJWKSet(document);
  } catch (cause) {
    throw unavailable('has a key set that is not one', { cause });
  }
}

function isKeySet(document: JsonObject): document is JsonObject & JSONWebKeySet {
  const { keys } = document;
  return Array.isArray(keys) && keys.every(isJsonObject);
}
