import { createAlarms } from './alarms';
import { createCoordinator } from './coordinator';
import { runOnThisMachine } from './developer';
import { createFragmentFunction } from './fragment-function';
import { readGiven } from './given';
import { createNetwork } from './network';
import { createRedis } from './redis';
import { readSecrets } from './secrets';
import { createSecurityGroups } from './security-groups';
import { settingsOf } from './settings';
import { createSpool } from './spool';
import { createWorkers } from './workers';

/** Everything of one stage. Answers what `sst deploy` shows. */
export function deploy(): Readonly<Record<string, $util.Input<string>>> {
  const settings = settingsOf($app.stage);
  const secrets = readSecrets();
  const spool = createSpool(settings.spool);
  const fragmentFunction = createFragmentFunction(settings, secrets.functionKeys);
  if ($dev) {
    runOnThisMachine(secrets, spool, fragmentFunction, settings);
    return { function: fragmentFunction.name, spool: spool.location };
  }
  const given = readGiven(process.env);
  const network = createNetwork(settings.network, settings.region);
  const groups = createSecurityGroups(network.vpc.id, settings, given.clientCidrs);
  const redis = createRedis(network, groups.redis, settings.redis.instance);
  const workers = createWorkers(settings, network, groups, secrets);
  const coordinator = createCoordinator({
    settings,
    given,
    network,
    groups,
    secrets,
    spool,
    fragmentFunction,
    redisUrl: redis.url,
    discoveryName: workers.discoveryName,
  });
  createAlarms({
    settings: settings.alarms,
    email: given.alarmEmail,
    network,
    coordinator,
    workers,
    fragmentFunction,
  });
  return {
    clients: `grpc+tls://${given.domain}:${settings.coordinator.listenerPort}`,
    // Its target where the domain's own DNS zone is elsewhere.
    loadBalancer: coordinator.nodes.loadBalancer.dnsName,
    monitoringGroup: groups.monitoring.id,
    function: fragmentFunction.name,
    spool: spool.location,
  };
}
