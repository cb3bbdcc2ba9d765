/** Node's TLS, loaded when it is first used: it costs each thread 25 ms of CPU, and a service without TLS needs none. */
export const nodeTls = () => process.getBuiltinModule('node:tls')
