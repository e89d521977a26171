import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, parseJson } from '../spec/lossless-json.js';
import { metadataBytes, parsedSizeFactor } from './metadata-bytes.js';

test('metadata is taken for as large as its text, times what objects take', () => {
  const text = '{"a":[1,2,{"b":"some text"}],"c":null,"d":{"e":9223372036854775807,"f":true}}';
  const json = parseJson(text, 'test');
  assert.ok(isJsonObject(json));
  const ratio = metadataBytes({ json }) / (text.length * parsedSizeFactor);
  assert.ok(ratio > 0.9 && ratio < 1.2, `${ratio}`);
});
