import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rendering, Resource } from './render/resource';

/** Made by scripts/check-infra.mjs. */
export const production = read('production');
export const trial = read('trial');
export const dev = read('dev');

function read(name: string): Rendering {
  return JSON.parse(readFileSync(join(process.env.INFRA_RENDERINGS ?? '', `${name}.json`), 'utf8'));
}

/** The resource with this name. The last part of its type is enough: `Role`. */
export function resource(rendering: Rendering, type: string, name: string): Resource {
  const found = ofType(rendering, type).filter((each) => each.name === name);
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(
      `${rendering.stage} has ${found.length} of ${type} ${name}; there are ${ofType(rendering, type).map((each) => each.name)}.`,
    );
  return only;
}

export function ofType(rendering: Rendering, type: string): readonly Resource[] {
  return rendering.resources.filter((each) => each.type === type || each.type.endsWith(`:${type}`));
}

export interface Statement {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** Of all inline policies of a role. The mocks keep statements as they were written. */
export function statementsOf(role: Resource): readonly Statement[] {
  return role.inputs.inlinePolicies.flatMap(
    ({ policy }: { readonly policy: string }) => JSON.parse(policy).Statement,
  );
}

/** The only container of a task. */
// biome-ignore lint/suspicious/noExplicitAny: as Resource.inputs.
export function containerOf(rendering: Rendering, task: string): Readonly<Record<string, any>> {
  const definitions = JSON.parse(resource(rendering, 'TaskDefinition', task).inputs.containerDefinitions);
  if (definitions.length !== 1) throw new Error(`${task} has ${definitions.length} containers.`);
  return definitions[0];
}

export function environmentOf(rendering: Rendering, task: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    containerOf(rendering, task).environment.map(
      ({ name, value }: { readonly name: string; readonly value: string }) => [name, value],
    ),
  );
}
