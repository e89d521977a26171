// A service whose users sign in at Keycloak, with the limits on wrong passwords that are the defaults.
import path from 'node:path';
import { startSignInServers } from '../../scripts/peers/sign-in-servers.mjs';
import { signInVariants } from '../../scripts/peers/sign-in-variants.mjs';
import { startService } from '../../scripts/support/service.mjs';

/** Answers `{ facts, stop }`: its trusted proxy is whoever calls from this machine. */
export async function startKeycloakService(root, folder) {
  const { stop, ...signIn } = await startSignInServers(path.join(folder, 'sign-in'));
  try {
    const { settings, user } = signInVariants({}, signIn).limits;
    const service = await startService({ root, folder: path.join(folder, 'service'), settings, user });
    return {
      facts: {
        host: service.host,
        flight_port: service.flightPort,
        metrics_port: service.metricsPort,
        status_port: service.statusPort,
        sign_in: signIn,
      },
      async stop() {
        await service.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
