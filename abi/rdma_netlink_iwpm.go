// This file mirrors the iWARP port mapper part of include/uapi/rdma/rdma_netlink.h. The
// kernel asks a user space daemon (iwpmd) to map ports; the attribute numbers depend on
// the message and its direction.

package abi

// Versions of the port mapper protocol the kernel speaks.
const (
	IWPM_UABI_VERSION_MIN = 3
	IWPM_UABI_VERSION     = 4
)

// Flags of port mapper messages.
const (
	IWPM_FLAGS_NO_PORT_MAP = 1 << 0
)

// Operations of client RDMA_NL_IWCM.
const (
	RDMA_NL_IWPM_REG_PID        = 0
	RDMA_NL_IWPM_ADD_MAPPING    = 1
	RDMA_NL_IWPM_QUERY_MAPPING  = 2
	RDMA_NL_IWPM_REMOVE_MAPPING = 3
	RDMA_NL_IWPM_REMOTE_INFO    = 4
	RDMA_NL_IWPM_HANDLE_ERR     = 5
	RDMA_NL_IWPM_MAPINFO        = 6
	RDMA_NL_IWPM_MAPINFO_NUM    = 7
	RDMA_NL_IWPM_HELLO          = 8
	RDMA_NL_IWPM_NUM_OPS        = 9
)

// Attributes of the registration request.
const (
	IWPM_NLA_REG_PID_UNSPEC = 0
	IWPM_NLA_REG_PID_SEQ    = 1
	IWPM_NLA_REG_IF_NAME    = 2
	IWPM_NLA_REG_IBDEV_NAME = 3
	IWPM_NLA_REG_ULIB_NAME  = 4
	IWPM_NLA_REG_PID_MAX    = 5
)

// Attributes of the registration answer.
const (
	IWPM_NLA_RREG_PID_UNSPEC = 0
	IWPM_NLA_RREG_PID_SEQ    = 1
	IWPM_NLA_RREG_IBDEV_NAME = 2
	IWPM_NLA_RREG_ULIB_NAME  = 3
	IWPM_NLA_RREG_ULIB_VER   = 4
	IWPM_NLA_RREG_PID_ERR    = 5
	IWPM_NLA_RREG_PID_MAX    = 6
)

// Attributes of requests that add or remove a mapping.
const (
	IWPM_NLA_MANAGE_MAPPING_UNSPEC = 0
	IWPM_NLA_MANAGE_MAPPING_SEQ    = 1
	IWPM_NLA_MANAGE_ADDR           = 2
	IWPM_NLA_MANAGE_FLAGS          = 3
	IWPM_NLA_MANAGE_MAPPING_MAX    = 4
)

// Attributes of the answer to an added mapping.
const (
	IWPM_NLA_RMANAGE_MAPPING_UNSPEC  = 0
	IWPM_NLA_RMANAGE_MAPPING_SEQ     = 1
	IWPM_NLA_RMANAGE_ADDR            = 2
	IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR = 3
	IWPM_NLA_MANAGE_MAPPED_LOC_ADDR  = 3
	IWPM_NLA_RMANAGE_MAPPING_ERR     = 4
	IWPM_NLA_RMANAGE_MAPPING_MAX     = 5
)

// Attribute counts that have names of their own.
const (
	IWPM_NLA_MAPINFO_SEND_MAX   = 3
	IWPM_NLA_REMOVE_MAPPING_MAX = 3
)

// Attributes of the mapping query.
const (
	IWPM_NLA_QUERY_MAPPING_UNSPEC = 0
	IWPM_NLA_QUERY_MAPPING_SEQ    = 1
	IWPM_NLA_QUERY_LOCAL_ADDR     = 2
	IWPM_NLA_QUERY_REMOTE_ADDR    = 3
	IWPM_NLA_QUERY_FLAGS          = 4
	IWPM_NLA_QUERY_MAPPING_MAX    = 5
)

// Attributes of the answer to a mapping query and of remote info messages.
const (
	IWPM_NLA_RQUERY_MAPPING_UNSPEC  = 0
	IWPM_NLA_RQUERY_MAPPING_SEQ     = 1
	IWPM_NLA_RQUERY_LOCAL_ADDR      = 2
	IWPM_NLA_RQUERY_REMOTE_ADDR     = 3
	IWPM_NLA_RQUERY_MAPPED_LOC_ADDR = 4
	IWPM_NLA_RQUERY_MAPPED_REM_ADDR = 5
	IWPM_NLA_RQUERY_MAPPING_ERR     = 6
	IWPM_NLA_RQUERY_MAPPING_MAX     = 7
)

// Attributes of the request for all mappings.
const (
	IWPM_NLA_MAPINFO_REQ_UNSPEC = 0
	IWPM_NLA_MAPINFO_ULIB_NAME  = 1
	IWPM_NLA_MAPINFO_ULIB_VER   = 2
	IWPM_NLA_MAPINFO_REQ_MAX    = 3
)

// Attributes of one mapping.
const (
	IWPM_NLA_MAPINFO_UNSPEC      = 0
	IWPM_NLA_MAPINFO_LOCAL_ADDR  = 1
	IWPM_NLA_MAPINFO_MAPPED_ADDR = 2
	IWPM_NLA_MAPINFO_FLAGS       = 3
	IWPM_NLA_MAPINFO_MAX         = 4
)

// Attributes of the message that counts mappings.
const (
	IWPM_NLA_MAPINFO_NUM_UNSPEC = 0
	IWPM_NLA_MAPINFO_SEQ        = 1
	IWPM_NLA_MAPINFO_SEND_NUM   = 2
	IWPM_NLA_MAPINFO_ACK_NUM    = 3
	IWPM_NLA_MAPINFO_NUM_MAX    = 4
)

// Attributes of an error message.
const (
	IWPM_NLA_ERR_UNSPEC = 0
	IWPM_NLA_ERR_SEQ    = 1
	IWPM_NLA_ERR_CODE   = 2
	IWPM_NLA_ERR_MAX    = 3
)

// Attributes of the greeting.
const (
	IWPM_NLA_HELLO_UNSPEC      = 0
	IWPM_NLA_HELLO_ABI_VERSION = 1
	IWPM_NLA_HELLO_MAX         = 2
)
