/** The page at `/` that explains the server. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Nodeloom sandbox provider</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:.1em .3em}</style>
<h1>Nodeloom sandbox provider</h1>
<p><strong>This is no AI.</strong> It stands in for AI providers on a developer's machine and in tests. Pictures, videos, sounds,
3D models and texts are computed from the prompt by plain arithmetic: the same prompt gives the same bytes. Every answer carries the header
<code>x-sandbox: true</code>; pictures, videos and textures bear the label SANDBOX.</p>
<ul>
<li>Polling jobs: <code>POST /v1/jobs</code>, <code>GET /v1/jobs/:id</code>, <code>POST /v1/jobs/:id/cancel</code></li>
<li>Queue: <code>POST /queue/:app</code>, <code>GET /queue/:app/requests/:id/status</code>, <code>GET /queue/:app/requests/:id</code></li>
<li>Predictions: <code>POST /v1/predictions</code>, <code>GET /v1/predictions/:id</code></li>
<li>Chat: <code>POST /v1/chat/completions</code>, <code>GET /v1/models</code></li>
<li>Images, answered at once: <code>POST /v1/images/generations</code></li>
<li>Speech, answered at once: <code>POST /v1/text-to-speech/:voice</code></li>
<li>For tests: <code>GET /sandbox/stats</code>, <code>POST</code> and <code>DELETE /sandbox/faults</code>, with <code>X-Sandbox-Control-Key</code></li>
</ul>
</html>
`;
