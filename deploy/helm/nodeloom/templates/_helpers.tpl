{{- define "nodeloom.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* An image by its digest or its tag, from `global.imageRegistry` where that is set: dict "root" $ "image" … */}}
{{- define "nodeloom.imageOf" -}}
{{- $registry := get (.root.Values.global | default dict) "imageRegistry" -}}
{{- $tag := .image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image.repository }}{{ if .image.digest }}@{{ .image.digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end }}

{{- define "nodeloom.image" -}}
{{ include "nodeloom.imageOf" (dict "root" . "image" .Values.image) }}
{{- end }}

{{/* Where a pod runs and what it may read images with; a service's own choice replaces that of `pods`: dict "root" $ "service" … */}}
{{- define "nodeloom.placement" -}}
{{- $pods := .root.Values.pods -}}
{{- $service := .service | default dict -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- range $member := list "priorityClassName" "runtimeClassName" "nodeSelector" "tolerations" "affinity" }}
{{- with hasKey $service $member | ternary (get $service $member) (get $pods $member) }}
{{ $member }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ $pods.uid }}
  runAsGroup: {{ $pods.uid }}
  fsGroup: {{ $pods.uid }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* What no container of the chart may do. */}}
{{- define "nodeloom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Labels and annotations of a pod: dict "root" $ "name" … "service" … */}}
{{- define "nodeloom.podMetadata" -}}
labels:
  {{- include "nodeloom.labels" . | nindent 2 }}
  {{- with .root.Values.pods.labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with merge dict (get (.service | default dict) "annotations" | default dict) .root.Values.pods.annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Labels of one process: dict "root" $ "name" "billing" */}}
{{- define "nodeloom.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "nodeloom.labels" -}}
{{ include "nodeloom.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* The port of a host:port. */}}
{{- define "nodeloom.port" -}}
{{ . | splitList ":" | last }}
{{- end }}

{{/* The name of a port, from the variable that asks for it: MEDIA_HTTP_LISTEN of media is `http`, BILLING_LISTEN `grpc`. */}}
{{- define "nodeloom.portName" -}}
{{- if eq . "ADMIN_LISTEN" }}admin{{ else if or (hasSuffix "HTTP_LISTEN" .) (has . (list "GATEWAY_LISTEN" "SANDBOX_LISTEN" "INFERENCE_LISTEN")) }}http{{ else }}grpc{{ end }}
{{- end }}

{{/* Whether the process takes part in mutual TLS: whoever calls or is called over gRPC. */}}
{{- define "nodeloom.usesTls" -}}
{{- $grpc := false -}}
{{- range $variable, $port := .service.listens }}{{ if eq (include "nodeloom.portName" $variable) "grpc" }}{{ $grpc = true }}{{ end }}{{ end -}}
{{- if or $grpc .service.calls }}true{{ end }}
{{- end }}

{{- define "nodeloom.certificateSecret" -}}
{{ include "nodeloom.fullname" .root }}-{{ .name }}-tls
{{- end }}

{{/* Environment of one process: dict "root" $ "name" "billing" "service" … */}}
{{- define "nodeloom.environment" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $settings := deepCopy $root.Values.settings.process -}}
{{- with .service.shutdownGraceMs }}{{ $_ := set $settings "SHUTDOWN_GRACE_MS" . }}{{ end -}}
{{- range .service.settings }}{{ $settings = merge $settings (get $root.Values.settings .) }}{{ end -}}
{{- if and (hasKey $settings "EXECUTIONS_REPLICAS") (not $settings.EXECUTIONS_REPLICAS) -}}
{{- $scaling := .service.autoscaling | default dict -}}
{{- $_ := set $settings "EXECUTIONS_REPLICAS" ($scaling.enabled | ternary $scaling.maxReplicas .service.replicas) -}}
{{- end -}}
{{- range $variable, $port := .service.listens }}{{ $_ := set $settings $variable (printf "0.0.0.0:%v" $port) }}{{ end -}}
{{- range $callee := .service.calls -}}
{{- $variable := upper $callee -}}
{{- $port := get (get $root.Values.services $callee).listens (printf "%s_LISTEN" $variable) -}}
{{- $_ := set $settings (printf "%s_ADDRESS" $variable) (printf "%s-%s:%v" (include "nodeloom.fullname" $root) $callee $port) -}}
{{- end -}}
{{- range $variable, $target := .service.urls -}}
{{- $port := get (get $root.Values.services $target.service).listens $target.listen -}}
{{- $_ := set $settings $variable (printf "http://%s-%s:%v" (include "nodeloom.fullname" $root) $target.service $port) -}}
{{- end -}}
{{- if include "nodeloom.usesTls" . -}}
{{- $_ := set $settings "TLS_CERT_FILE" "/certificates/tls.crt" -}}
{{- $_ := set $settings "TLS_KEY_FILE" "/certificates/tls.key" -}}
{{- $_ := set $settings "TLS_CA_FILE" "/certificates/ca.crt" -}}
{{- end -}}
{{- range $variable := keys $settings | sortAlpha }}
{{- with get $settings $variable }}
- name: {{ $variable }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range .service.secrets }}
{{- $group := get $root.Values.secrets . }}
{{- range $variable, $key := $group.variables }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $group.secret }}
      key: {{ $key | replace "<service>" $name }}
      {{- if $group.optional }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Environment variables of a Job: dict of texts. */}}
{{- define "nodeloom.texts" -}}
{{- range $variable := keys . | sortAlpha }}
{{- with get $ $variable }}
- name: {{ $variable }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The connection strings of every service with a database, as <SERVICE>_MONGODB_URI. */}}
{{- define "nodeloom.connections" -}}
{{- $mongodb := .Values.secrets.mongodb -}}
{{- range $name, $service := .Values.services }}
{{- if has "mongodb" $service.secrets }}
- name: {{ upper $name }}_MONGODB_URI
  valueFrom:
    secretKeyRef: { name: {{ $mongodb.secret }}, key: {{ get $mongodb.variables "MONGODB_URI" | replace "<service>" $name }} }
{{- end }}
{{- end }}
{{- end }}

{{/* The network of a Job's pod: DNS and the servers that it needs. */}}
{{- define "nodeloom.jobPolicy" }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "nodeloom.fullname" .root }}-{{ .name }}
  labels: {{- include "nodeloom.labels" .of | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "nodeloom.selector" .of | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    - ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
      to: [{ namespaceSelector: {} }]
    {{- range $server := .servers }}
    {{- with get $.root.Values.networkPolicy $server }}
    - to: {{- toYaml .to | nindent 8 }}
      ports: [{ port: {{ .port }} }]
    {{- end }}
    {{- end }}
{{- end }}

{{/* Whether files of the process are kept on a volume of their own: scratch space is not. */}}
{{- define "nodeloom.keepsData" -}}
{{- if and .service.data (not .service.data.scratch) }}{{ if not (and (eq .name "media") .root.Values.settings.media.MEDIA_S3_BUCKET) }}true{{ end }}{{ end }}
{{- end }}
