// Certificates for tests alone, valid from 2020 to 2119: an authority (its key is gone), a server (localhost,
// staging.test, 127.0.0.1) and a client that it vouches for, and the client's key under a passphrase.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { type AppOptions, buildApp } from "../../src/service/app.ts";

type Pem = "ca" | "server" | "server-key" | "client" | "client-key" | "locked-key";

export const pemPath = (name: Pem): string => fileURLToPath(new URL(`./tls/${name}.pem`, import.meta.url));
export const pem = (name: Pem): string => readFileSync(pemPath(name), "utf8");

/** A target of https on loopback that lets in whoever has a certificate of the authority's, or everybody. */
async function secureTarget(answer: RequestListener, options: { readonly asksForClients: boolean }) {
  const server = createServer(
    {
      key: pem("server-key"),
      cert: pem("server"),
      ca: pem("ca"),
      requestCert: options.asksForClients,
      rejectUnauthorized: options.asksForClients,
    },
    answer,
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The reference deployment behind TLS. */
export async function secureService(
  app: Pick<AppOptions, "rules" | "tokens">,
  options: { readonly asksForClients: boolean },
) {
  const service = buildApp({ ...app, now: Date.now });
  await service.ready();
  const target = await secureTarget((request, response) => service.routing(request, response), options);
  return {
    ...target,
    async close() {
      await target.close();
      await service.close();
    },
  };
}

/** A proxy that asks for a password (`user:secret`), and leads every host to one port of this machine. */
export async function tunnelProxy(port: number) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createPlainServer();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("connect", ({ url, headers }, client: Socket) => {
    const authorization = Buffer.from("user:secret").toString("base64");
    if (headers["proxy-authorization"] !== `Basic ${authorization}`)
      return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    asked.push(url ?? "");
    const through = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      through.pipe(client).pipe(through);
    });
    sockets.add(through);
    for (const socket of [client, through]) socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://user:secret@127.0.0.1:${own}`,
    /** The hosts that were asked for, one a connection. */
    asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
