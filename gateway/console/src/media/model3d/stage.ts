import {
  Box3,
  Material,
  Mesh,
  NeutralToneMapping,
  PerspectiveCamera,
  PMREMGenerator,
  Scene,
  Sphere,
  Spherical,
  Texture,
  TextureLoader,
  WebGLRenderer,
  type Object3D,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/**
 * Shows GLB files. All canvases of the page share one WebGL context, because browsers allow only about 16: it draws a frame when a view
 * changes, and the frame is copied to the view's canvas.
 */

export class NoWebGl extends Error {}

const FIELD_OF_VIEW = 40;
/** First direction of the camera: from the front, the right and above, in radians. */
const FIRST_VIEW = { polar: 1.2, azimuth: 0.6 };
const MARGIN = 1.15;
const DEPTH = 100;
const LIGHT_BLUR = 0.04;
const KEY_ANGLE = Math.PI / 18;
const KEY_ZOOM = 1.15;
const MAX_PIXEL_RATIO = 2;

interface Drawing {
  renderer: WebGLRenderer;
  light: Texture;
}

let shared: Drawing | undefined;

/** @throws NoWebGl */
const openDrawing = (): Drawing => {
  if (shared) return shared;
  try {
    const renderer = new WebGLRenderer({ antialias: true, alpha: true });
    renderer.toneMapping = NeutralToneMapping;
    renderer.domElement.addEventListener("webglcontextlost", () => void (shared = undefined));
    const generator = new PMREMGenerator(renderer);
    const light = generator.fromScene(new RoomEnvironment(), LIGHT_BLUR).texture;
    generator.dispose();
    return (shared = { renderer, light });
  } catch (error) {
    throw new NoWebGl(undefined, { cause: error });
  }
};

/** @throws Error if the file can't be read */
const readModel = async (bytes: ArrayBuffer): Promise<Object3D> => {
  const loader = new GLTFLoader();
  // The default loader fetches blob addresses, which the page's security policy forbids. Image elements may show them.
  loader.register((parser) => {
    parser.textureLoader = new TextureLoader(parser.options.manager);
    return { name: "textures-as-images" };
  });
  return (await loader.parseAsync(bytes, "")).scene;
};

const disposeModel = (model: Object3D): void =>
  model.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    const { geometry, material } = part as Mesh;
    geometry.dispose();
    for (const one of [material].flat()) {
      for (const value of Object.values(one)) if (value instanceof Texture) value.dispose();
      if (one instanceof Material) one.dispose();
    }
  });

const moveBy = (camera: PerspectiveCamera, { target }: OrbitControls, move: (view: Spherical) => void): void => {
  const view = new Spherical().setFromVector3(camera.position.clone().sub(target));
  move(view);
  camera.position.setFromSpherical(view.makeSafe()).add(target);
};

/** What keys do: the arrows turn the model, plus and minus zoom. */
const KEYS: Readonly<Record<string, (view: Spherical) => void>> = {
  ArrowLeft: (view) => (view.theta -= KEY_ANGLE),
  ArrowRight: (view) => (view.theta += KEY_ANGLE),
  ArrowUp: (view) => (view.phi -= KEY_ANGLE),
  ArrowDown: (view) => (view.phi += KEY_ANGLE),
  "+": (view) => (view.radius /= KEY_ZOOM),
  "-": (view) => (view.radius *= KEY_ZOOM),
};

export interface Stage {
  /** Shows the whole model from its first direction. */
  reset(): void;
  close(): void;
}

/**
 * Shows a GLB file on a canvas. Dragging, touch and keys turn it.
 * @throws NoWebGl if the browser can't draw; Error if the file can't be read
 */
export const openStage = async (canvas: HTMLCanvasElement, bytes: ArrayBuffer): Promise<Stage> => {
  openDrawing();
  const model = await readModel(bytes);
  const bounds = new Box3().setFromObject(model);
  const { center, radius } = bounds.getBoundingSphere(new Sphere());
  const context = canvas.getContext("2d");
  if (bounds.isEmpty() || !(radius > 0) || !context) {
    disposeModel(model);
    throw new Error("the model has nothing to show");
  }
  const scene = new Scene();
  scene.add(model);
  const camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, radius / DEPTH, radius * DEPTH);
  const controls = new OrbitControls(camera, canvas);

  const draw = (): void => {
    if (canvas.width === 0 || canvas.height === 0) return;
    const { renderer, light } = openDrawing();
    scene.environment = light;
    renderer.setSize(canvas.width, canvas.height, false);
    renderer.render(scene, camera);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(renderer.domElement, 0, 0);
  };
  const resize = (): void => {
    const ratio = Math.min(devicePixelRatio, MAX_PIXEL_RATIO);
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    camera.aspect = canvas.width / Math.max(1, canvas.height);
    camera.updateProjectionMatrix();
    draw();
  };
  const reset = (): void => {
    controls.target.copy(center);
    const distance = (radius * MARGIN) / Math.sin((FIELD_OF_VIEW * Math.PI) / 360);
    camera.position.setFromSphericalCoords(distance, FIRST_VIEW.polar, FIRST_VIEW.azimuth).add(center);
    controls.update();
    draw();
  };
  const onKey = (event: KeyboardEvent): void => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    moveBy(camera, controls, move);
    controls.update();
  };
  controls.enablePan = false;
  controls.minDistance = radius / 10;
  controls.maxDistance = radius * 20;
  controls.addEventListener("change", draw);
  canvas.addEventListener("keydown", onKey);
  const observer = new ResizeObserver(resize);
  observer.observe(canvas);
  reset();
  return {
    reset,
    close: () => {
      observer.disconnect();
      canvas.removeEventListener("keydown", onKey);
      controls.dispose();
      disposeModel(model);
    },
  };
};
