// This file mirrors the ESP flow action part of include/uapi/rdma/ib_user_ioctl_verbs.h.

package abi

import "structs"

// IBUverbsFlowActionEspKeymat is enum ib_uverbs_flow_action_esp_keymat, the kind of key
// material of an ESP action.
type IBUverbsFlowActionEspKeymat uint32

// Values of IBUverbsFlowActionEspKeymat.
const (
	IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM IBUverbsFlowActionEspKeymat = 0
)

// IBUverbsFlowActionEspKeymatAesGcmIvAlgo is enum
// ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo, how AES-GCM initialisation vectors are
// made.
type IBUverbsFlowActionEspKeymatAesGcmIvAlgo uint32

// Values of IBUverbsFlowActionEspKeymatAesGcmIvAlgo.
const (
	IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ IBUverbsFlowActionEspKeymatAesGcmIvAlgo = 0
)

// IBUverbsFlowActionEspKeymatAesGcm is struct ib_uverbs_flow_action_esp_keymat_aes_gcm,
// AES-GCM key material of an ESP action.
type IBUverbsFlowActionEspKeymatAesGcm struct {
	_      structs.HostLayout
	Iv     uint64
	IvAlgo uint32
	Salt   uint32
	IcvLen uint32
	KeyLen uint32
	AesKey [8]uint32
}

// IBUverbsFlowActionEspReplay is enum ib_uverbs_flow_action_esp_replay, the kind of replay
// protection of an ESP action.
type IBUverbsFlowActionEspReplay uint32

// Values of IBUverbsFlowActionEspReplay.
const (
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE IBUverbsFlowActionEspReplay = 0
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP  IBUverbsFlowActionEspReplay = 1
)

// IBUverbsFlowActionEspReplayBmp is struct ib_uverbs_flow_action_esp_replay_bmp, the
// window size of bitmap replay protection.
type IBUverbsFlowActionEspReplayBmp struct {
	_    structs.HostLayout
	Size uint32
}

// IBUverbsFlowActionEspFlags is enum ib_uverbs_flow_action_esp_flags, bits of
// IBUverbsFlowActionEsp.Flags; the zero values are the defaults of each bit.
type IBUverbsFlowActionEspFlags uint32

// Values of IBUverbsFlowActionEspFlags.
const (
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO  IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD   IBUverbsFlowActionEspFlags = 1 << 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL         IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT      IBUverbsFlowActionEspFlags = 1 << 1
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT        IBUverbsFlowActionEspFlags = 0
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT        IBUverbsFlowActionEspFlags = 1 << 2
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW IBUverbsFlowActionEspFlags = 1 << 3
)

// IBUverbsFlowActionEspEncap is struct ib_uverbs_flow_action_esp_encap, a list of filters
// that encapsulate an ESP payload. ValPtr and NextPtr are user addresses.
type IBUverbsFlowActionEspEncap struct {
	_       structs.HostLayout
	ValPtr  uint64
	NextPtr uint64
	Len     uint16
	Type    uint16
	_       [4]byte
}

// IBUverbsFlowActionEsp is struct ib_uverbs_flow_action_esp, the attributes of an ESP
// action.
type IBUverbsFlowActionEsp struct {
	_             structs.HostLayout
	Spi           uint32
	Seq           uint32
	TfcPad        uint32
	Flags         uint32
	HardLimitPkts uint64
}
