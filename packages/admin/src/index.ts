export { type AdminOptions, type AdminServer, startAdmin } from './admin-server.js';
export type { AdminBackend, AdminCaller, StatusDocument } from './backend.js';
