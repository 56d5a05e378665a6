/* Points by WebGL2: two places of a point, one byte of label, colors from a table of 256. */

const VERTEX = `#version 300 es
in vec2 before;
in vec2 after;
in uint label;
uniform vec4 view;
uniform float moved, size;
uniform int only;
uniform sampler2D colors;
flat out vec4 color;
void main() {
  gl_Position = vec4(mix(before, after, moved) * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = size;
  color = texelFetch(colors, ivec2(int(label), 0), 0);
  color.a = only < 0 || int(label) == only ? 0.85 : 0.1;
}`;

const FRAGMENT = `#version 300 es
precision highp float; // as in the other shader, which shares size
flat in vec4 color;
uniform float size;
out vec4 drawn;
void main() {
  vec2 d = 2.0 * gl_PointCoord - 1.0;
  if (size > 3.0 && dot(d, d) > 1.0) discard;
  drawn = vec4(color.rgb * color.a, color.a);
}`;

/** A painter, or null where there is no WebGL2, or none that is fast. */
export function glPainter(canvas, { isForced = false } = {}) {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, premultipliedAlpha: true });
  if (!gl || (!isForced && isOnProcessor(gl))) return null;
  const program = link(gl);
  if (!program) return null;
  const place = (name) => gl.getUniformLocation(program, name);
  const uniforms = { view: place('view'), moved: place('moved'), size: place('size'), only: place('only') };
  const buffers = { before: gl.createBuffer(), after: gl.createBuffer(), label: gl.createBuffer() };
  gl.useProgram(program);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  function load(name, array, width) {
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    if (width === 1) gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_BYTE, 0, 0);
    else gl.vertexAttribPointer(at, width, gl.FLOAT, false, 0, 0);
  }

  return {
    name: 'WebGL2',
    setPlaces(before, after) {
      load('before', before, 2);
      load('after', after, 2);
    },
    setLabels: (labels) => load('label', labels, 1),
    setColors(table) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    },
    /** x, y: the middle; scale: pixels of the canvas a unit; n: how many points; only: a label, or -1. */
    draw({ x, y, scale, moved, size, n, only }) {
      const { width, height } = canvas;
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const [sx, sy] = [(2 * scale) / width, (2 * scale) / height];
      gl.uniform4f(uniforms.view, sx, sy, -x * sx, -y * sy);
      gl.uniform1f(uniforms.moved, moved);
      gl.uniform1f(uniforms.size, size);
      gl.uniform1i(uniforms.only, only);
      gl.drawArrays(gl.POINTS, 0, n);
    },
    finish: () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)),
    remove: () => gl.getExtension('WEBGL_lose_context')?.loseContext(),
  };
}

/** Without a graphics card the processor does its work, more slowly than it writes pixels itself. */
function isOnProcessor(gl) {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

function link(gl) {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}
