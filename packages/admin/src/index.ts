export { type AdminOptions, type AdminServer, startAdmin } from './admin-server.js';
export type { AdminBackend, StatusDocument } from './backend.js';
