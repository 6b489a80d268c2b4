// Stands in for the client of the editor: notes what was to be started, and what was sent.
export const clients: LanguageClient[] = [];

export class LanguageClient {
  sent: [string, unknown][] = [];
  running = false;

  constructor(
    readonly id: string,
    readonly name: string,
    readonly server: { command: string; args: string[]; options: { env: NodeJS.ProcessEnv; cwd?: string } },
    readonly options: {
      initializationOptions: unknown;
      middleware: { workspace: { configuration(parameters: unknown, token: unknown, next: unknown): Promise<unknown> } };
    },
  ) {
    clients.push(this);
  }

  async start(): Promise<void> {
    this.running = true;
  }

  async dispose(): Promise<void> {
    this.running = false;
  }

  async sendRequest(method: string, parameters: unknown): Promise<void> {
    this.sent.push([method, parameters]);
  }

  async sendNotification(method: string, parameters: unknown): Promise<void> {
    this.sent.push([method, parameters]);
  }
}
